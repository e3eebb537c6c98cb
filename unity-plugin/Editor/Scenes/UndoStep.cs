#nullable enable
using JobBroker.Bridge.Ports;
using UnityEditor;

namespace JobBroker.Bridge.Unity
{
    /// <summary>
    /// A group of Unity's Undo. Groups within it are numbered later, so that collapsing it takes them in. Main thread only.
    /// </summary>
    internal sealed class UndoStep : IUndoStep
    {
        private readonly string name;
        private readonly int group;
        private bool isComplete;

        public UndoStep(string name)
        {
            this.name = name;
            Undo.IncrementCurrentGroup();
            Undo.SetCurrentGroupName(name);
            group = Undo.GetCurrentGroup();
        }

        public void Complete() => isComplete = true;

        public void Dispose()
        {
            // What was recorded is compared with how it is now only then.
            Undo.FlushUndoRecordObjects();
            if (!isComplete)
            {
                Undo.RevertAllDownToGroup(group);
                return;
            }
            Undo.SetCurrentGroupName(name);
            Undo.CollapseUndoOperations(group);
        }
    }
}
