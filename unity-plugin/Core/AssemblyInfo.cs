#nullable enable
using System.Runtime.CompilerServices;

[assembly: InternalsVisibleTo("Core.Tests")]
[assembly: InternalsVisibleTo("JobBroker.EditorHost.Domain")]
