#nullable enable
using System.Runtime.CompilerServices;

[assembly: InternalsVisibleTo("JobBroker.Bridge.Editor.Tests")]
