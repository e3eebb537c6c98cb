#nullable enable
using System;
using System.Collections.Generic;

namespace JobBroker.Bridge.Tools.BuiltIn
{
    /// <summary>The steps of a build as progress that never goes back. Any thread.</summary>
    internal sealed class BuildSteps
    {
        private const double Whole = 100;

        /// <summary>What a step of unknown size adds: a visible step, without pretending to know.</summary>
        private const double SmallStep = 0.1;

        private readonly IProgressSink progress;
        private readonly List<string> steps = new List<string>();
        private double reached;

        public BuildSteps(IProgressSink progress)
        {
            this.progress = progress;
        }

        /// <param name="fraction">From 0 to 1; negative when unknown.</param>
        public void Report(string step, double fraction)
        {
            lock (steps)
            {
                if (steps.Count == 0 || steps[steps.Count - 1] != step) steps.Add(step);
                var reported = fraction >= 0 ? Math.Min(fraction, 1) * Whole : Math.Min(reached + SmallStep, Whole - 1);
                reached = Math.Max(reached, reported);
                progress.Report(reached, Whole, step, new { phase = step, steps = steps.ToArray() });
            }
        }
    }
}
