#nullable enable
using System;
using System.Threading;

namespace JobBroker.Bridge
{
    /// <summary>A background thread of the bridge: named, so that it can be found, and joined before a domain reload.</summary>
    public sealed class BridgeThread
    {
        /// <summary>Every thread of the bridge begins with this; the operating system shows 15 characters.</summary>
        public const string NamePrefix = "jb-";

        private readonly Thread thread;

        private BridgeThread(string name, Action body, Action<Exception> crashed)
        {
            thread = new Thread(() =>
            {
                try
                {
                    body();
                }
                catch (Exception error)
                {
                    crashed(error);
                }
            })
            {
                Name = NamePrefix + name,
                IsBackground = true,
            };
        }

        /// <summary>Starts a thread; an exception out of <paramref name="body"/> goes to <paramref name="crashed"/> instead of ending the process.</summary>
        public static BridgeThread Start(string name, Action body, Action<Exception> crashed)
        {
            var started = new BridgeThread(name, body, crashed);
            started.thread.Start();
            return started;
        }

        /// <summary>Waits for the thread's end; false when it did not end in time. True at once on the thread itself.</summary>
        public bool Join(int milliseconds) => thread == Thread.CurrentThread || thread.Join(milliseconds);
    }
}
