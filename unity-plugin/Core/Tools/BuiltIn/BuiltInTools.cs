#nullable enable
using System.Collections.Generic;

namespace JobBroker.Bridge.Tools.BuiltIn
{
    /// <summary>
    /// The bridge's own tools. A list, since looking for them in every type of this assembly would be a part of what each
    /// start of a script domain takes.
    /// </summary>
    internal static class BuiltInTools
    {
        public static IReadOnlyList<IUnityTool> All(ToolServices services) => new IUnityTool[]
        {
            new ExecuteMenuItemTool(services),
            new GetMenuItemsTool(services),
            new PingTool(),
            new ClearConsoleTool(services),
            new GetLogsTool(services),
            new BuildPlayerTool(services),
            new CompileTool(services),
            new SetBuildTargetTool(services),
            new RunTestsTool(services),
            new ExecuteCodeTool(services),
            new GetProviderDetailsTool(services),
            new UnitySearchTool(services),
            new CaptureScreenshotTool(services),
            new ControlPlayModeTool(services),
            new GetEditorStateTool(services),
            new CreateSceneTool(services),
            new FindGameObjectsTool(services),
            new GetHierarchyTool(services),
            new OpenSceneTool(services),
            new SaveSceneTool(services),
            new CreateGameObjectTool(services),
            new DeleteGameObjectTool(services),
            new ModifyGameObjectTool(services),
            new AddComponentTool(services),
            new ModifyComponentTool(services),
            new ReadComponentTool(services),
            new RemoveComponentTool(services),
            new RunBatchTool(services),
            new FindAssetsTool(services),
            new ManageAssetsTool(services),
            new ListPackagesTool(services),
            new ManagePackagesTool(services),
        };
    }
}
