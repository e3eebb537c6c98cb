#nullable enable
using System;
using Newtonsoft.Json.Linq;

namespace JobBroker.Bridge.Execution
{
    /// <summary>Where the Console's lines of running calls go. Any thread; neither part blocks.</summary>
    public sealed class LineOutlet
    {
        /// <param name="isOpen">Whether a worker is connected that takes lines.</param>
        public LineOutlet(Func<bool> isOpen, Action<JObject> send)
        {
            IsOpen = isOpen;
            Send = send;
        }

        public Func<bool> IsOpen { get; }

        public Action<JObject> Send { get; }
    }
}
