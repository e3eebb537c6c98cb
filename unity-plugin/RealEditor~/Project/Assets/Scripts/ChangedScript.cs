namespace JobBroker.RealEditor
{
    /// <summary>The kit writes another number here, as somebody does who edits a script.</summary>
    public static class ChangedScript
    {
        public const int Number = 1;
    }
}
