#nullable enable
using System.Threading.Tasks;
using Newtonsoft.Json.Linq;

namespace JobBroker.Bridge.Tools
{
    /// <summary>
    /// One tool. Called on the Editor's main thread, but for those that <see cref="ToolLanes"/> lists. The class needs
    /// an
    /// <see cref="McpToolAttribute"/> and a public constructor that takes nothing or one <see cref="ToolServices"/>.
    /// </summary>
    public interface IUnityTool
    {
        /// <summary>JSON Schema 2020-12 of the arguments: a closed object with PascalCase properties.</summary>
        JObject InputSchema { get; }

        /// <summary>
        /// Runs the call once. The result becomes JSON; an exception becomes a failed outcome
        /// (<see cref="ToolException"/> names its type). A task that is not complete keeps the lane.
        /// </summary>
        /// <param name="arguments">Checked against nothing yet: names in PascalCase or camelCase.</param>
        Task<object?> ExecuteAsync(JObject arguments, ToolContext context);
    }

    /// <summary>A tool whose running call resumes after a domain reload.</summary>
    public interface IResumableTool : IUnityTool
    {
        /// <summary>
        /// Picks a running call up in the new script domain; never begins it again. Throws <see cref="ToolException"/>
        /// of
        /// type <c>domain_reload</c> when there is nothing to go on with: the outcome is then interrupted.
        /// </summary>
        /// <param name="resumeRecord">
        /// What <see cref="ToolContext.SaveResumeRecord"/> stored last; null when nothing was.
        /// </param>
        Task<object?> ResumeAsync(JObject arguments, JToken? resumeRecord, ToolContext context);
    }
}
