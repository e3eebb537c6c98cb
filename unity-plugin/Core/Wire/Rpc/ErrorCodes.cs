#nullable enable
namespace JobBroker.Bridge.Wire
{
    /// <summary>The codes of docs/reference/protocol.md, section 5.</summary>
    public static class ErrorCodes
    {
        public const int ParseError = -32700;
        public const int InvalidRequest = -32600;
        public const int MethodNotFound = -32601;
        public const int InvalidParams = -32602;
        public const int InternalError = -32603;

        public const int Unauthorized = -32010;
        public const int Fenced = -32011;
        public const int OperationIdConflict = -32012;
        public const int LedgerLost = -32013;
        public const int LedgerUnavailable = -32014;
        public const int FrameTooLarge = -32015;
        public const int EditorShuttingDown = -32017;
        public const int UnknownTool = -32018;
        public const int ForeignBroker = -32019;
        public const int Retired = -32020;
        public const int Revoked = -32021;
    }
}
