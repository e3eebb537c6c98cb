#nullable enable
using System.Runtime.CompilerServices;

[assembly: InternalsVisibleTo("Core.Tests")]
[assembly: InternalsVisibleTo("Core.Tests.Child")]
[assembly: InternalsVisibleTo("JobBroker.EditorHost.Domain")]
