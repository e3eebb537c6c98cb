#nullable enable
using System.Threading.Tasks;
using JobBroker.Bridge.Tools.Parameters;
using Newtonsoft.Json.Linq;

namespace JobBroker.Bridge.Tools
{
    /// <summary>
    /// A tool whose parameters are the properties of <typeparamref name="TSchema"/> and whose result is a
    /// <typeparamref name="TResponse"/>. The schema class is read when it is first asked for, not at the start of every script
    /// domain; <see cref="InputSchema"/> throws where it cannot be described.
    /// </summary>
    public abstract class AbstractUnityTool<TSchema, TResponse> : IUnityTool, IChecksArguments
        where TSchema : class, new()
        where TResponse : class
    {
        private readonly SchemaClass schema = new SchemaClass(typeof(TSchema));

        /// <summary>A copy, so that callers cannot change the schema of others. Any thread.</summary>
        public JObject InputSchema => schema.InputSchema();

        /// <summary>
        /// Binds the arguments and runs the call. Awaits as the thread does that calls: on Unity's main thread it
        /// stays there.
        /// </summary>
        public async Task<object?> ExecuteAsync(JObject arguments, ToolContext context) =>
            await ExecuteAsync(Bind(arguments), context);

        void IChecksArguments.Check(JObject arguments) => Bind(arguments);

        /// <summary>Runs the call with its parameters.</summary>
        protected abstract Task<TResponse> ExecuteAsync(TSchema parameters, ToolContext context);

        /// <summary>
        /// The arguments as parameters; throws <see cref="ToolException"/> of type invalid_arguments.
        /// </summary>
        protected TSchema Bind(JObject arguments) => (TSchema)ArgumentBinder.Bind(schema.Shape, arguments);
    }

    /// <summary>A tool whose arguments can be looked at before it runs.</summary>
    public interface IChecksArguments
    {
        /// <summary>Throws <see cref="ToolException"/> of type invalid_arguments for those that do not fit.</summary>
        void Check(JObject arguments);
    }

    /// <summary>A tool that may stop being cancellable with what the Editor has installed.</summary>
    public interface IConditionallyCancellable
    {
        /// <summary>
        /// Read once, when the tool is registered; false overrides <see cref="McpToolAttribute.Cancellable"/>.
        /// </summary>
        bool CanBeCancelled { get; }
    }
}
