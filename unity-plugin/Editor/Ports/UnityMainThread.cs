#nullable enable
using System;
using System.Reflection;
using System.Threading;
using JobBroker.Bridge.Ports;
using UnityEditor;

namespace JobBroker.Bridge.Unity
{
    /// <summary>
    /// The Editor's main thread. It is woken by the Editor's internal EditorApplication.SignalTick, the one call that
    /// is known to reach a parked Editor from another thread; without it the next tick of the Editor has to do.
    /// </summary>
    internal sealed class UnityMainThread : IMainThread
    {
        private readonly int id = Thread.CurrentThread.ManagedThreadId;
        private readonly Action? signalTick;
        private int wanted;

        public UnityMainThread(IBridgeLog log)
        {
            signalTick = SignalTick();
            if (signalTick == null) log.Info("This Editor cannot be woken; while it has no focus, calls wait for its next tick.");
        }

        public bool IsCurrent => Thread.CurrentThread.ManagedThreadId == id;

        public bool CanWake => signalTick != null;

        public void Wake()
        {
            if (signalTick != null) signalTick();
            else Interlocked.Exchange(ref wanted, 1);
        }

        /// <summary>
        /// Asks for another tick soon where the Editor cannot be woken from outside. Main thread only.
        /// </summary>
        public void Tick()
        {
            if (Interlocked.Exchange(ref wanted, 0) == 1) EditorApplication.QueuePlayerLoopUpdate();
        }

        private static Action? SignalTick()
        {
            const BindingFlags anyStatic = BindingFlags.Static | BindingFlags.Public | BindingFlags.NonPublic;
            var method = typeof(EditorApplication).GetMethod("SignalTick", anyStatic, null, Type.EmptyTypes, null);
            return method == null ? null : (Action?)Delegate.CreateDelegate(typeof(Action), method, false);
        }
    }
}
