#nullable enable
using System;
using System.Collections.Generic;
using System.Diagnostics;
using System.IO;
using System.Linq;
using System.Net;
using System.Runtime.InteropServices;
using System.Text;
using System.Threading;
using System.Threading.Tasks;

namespace JobBroker.Bridge.Tests
{
    /// <summary>
    /// The members of .NET that the tests use and .NET Framework 4.7.2 does not have, as far as the tests need them. PolySharp
    /// brings the types of the language.
    /// </summary>
    internal static class NewerApi
    {
        extension(Directory)
        {
            public static DirectoryInfo CreateTempSubdirectory(string? prefix = null) =>
                Directory.CreateDirectory(Path.Combine(Path.GetTempPath(), prefix + Guid.NewGuid().ToString("N")));
        }

        extension(File)
        {
            public static FileSystemInfo CreateSymbolicLink(string path, string target)
            {
                Libc.Check(Libc.symlink(target, path));
                return new FileInfo(path);
            }

            public static UnixFileMode GetUnixFileMode(string path) =>
                (UnixFileMode)(Libc.ModeOf(path) & 0b111_111_111);

            public static void SetUnixFileMode(string path, UnixFileMode mode) => Libc.Check(Libc.chmod(path, (uint)mode));

            public static Task<byte[]> ReadAllBytesAsync(string path, CancellationToken _ = default) =>
                Task.FromResult(File.ReadAllBytes(path));

            public static Task WriteAllTextAsync(string path, string text, CancellationToken _ = default)
            {
                File.WriteAllText(path, text);
                return Task.CompletedTask;
            }

            public static Task WriteAllLinesAsync(string path, IEnumerable<string> lines, CancellationToken _ = default)
            {
                File.WriteAllLines(path, lines);
                return Task.CompletedTask;
            }
        }

        extension(FileSystemInfo info)
        {
            public string? LinkTarget => Libc.LinkTarget(info.FullName);
        }

        extension(Path)
        {
            public static string GetRelativePath(string from, string path) =>
                path.StartsWith(from + "/", StringComparison.Ordinal) ? path.Substring(from.Length + 1) : path;
        }

        extension(OperatingSystem)
        {
            public static bool IsWindows() => RuntimeInformation.IsOSPlatform(OSPlatform.Windows);

            public static bool IsLinux() => RuntimeInformation.IsOSPlatform(OSPlatform.Linux);
        }

        extension(Environment)
        {
            public static int ProcessId => Process.GetCurrentProcess().Id;

            public static string? ProcessPath => Process.GetCurrentProcess().MainModule?.FileName;

            public static long TickCount64 => Stopwatch.GetTimestamp() * 1000 / Stopwatch.Frequency;
        }

        extension(Encoding)
        {
            public static Encoding Latin1 => Encoding.GetEncoding("iso-8859-1");
        }

        extension(IPEndPoint)
        {
            public static IPEndPoint Parse(string text)
            {
                var colon = text.LastIndexOf(':');
                return new IPEndPoint(IPAddress.Parse(text.Substring(0, colon)), int.Parse(text.Substring(colon + 1)));
            }
        }

        extension(Random random)
        {
            public static Random Shared => OneRandom;

            public long NextInt64(long below) => (long)(random.NextDouble() * below);

            public T[] GetItems<T>(T[] choices, int length) =>
                Enumerable.Range(0, length).Select(_ => choices[random.Next(choices.Length)]).ToArray();
        }

        extension(Process process)
        {
            public void Kill(bool _) => process.Kill();

            public async Task WaitForExitAsync(CancellationToken cancellation = default)
            {
                await Task.Run(process.WaitForExit, CancellationToken.None);
                cancellation.ThrowIfCancellationRequested();
            }
        }

        extension(TextReader reader)
        {
            public Task<string> ReadToEndAsync(CancellationToken _) => reader.ReadToEndAsync();
        }

        extension(Task task)
        {
            public bool IsCompletedSuccessfully => task.Status == TaskStatus.RanToCompletion;
        }

        extension<T>(Task<T> task)
        {
            public async Task<T> WaitAsync(TimeSpan limit)
            {
                if (await Task.WhenAny(task, Task.Delay(limit)) != task) throw new TimeoutException();
                return await task;
            }
        }

        extension(string text)
        {
            public string[] Split(char at, StringSplitOptions options) => text.Split(new[] { at }, options);

            public bool Contains(string part, StringComparison comparison) => text.IndexOf(part, comparison) >= 0;

            public string ReplaceLineEndings(string by) => text.Replace("\r\n", "\n").Replace("\n", by);
        }

        public static TValue? GetValueOrDefault<TKey, TValue>(this IReadOnlyDictionary<TKey, TValue> all, TKey key) =>
            all.TryGetValue(key, out var value) ? value : default;

        public static void Deconstruct<TKey, TValue>(this KeyValuePair<TKey, TValue> pair, out TKey key, out TValue value)
        {
            key = pair.Key;
            value = pair.Value;
        }

        public static IEnumerable<T> TakeLast<T>(this IReadOnlyCollection<T> all, int count) =>
            all.Skip(Math.Max(0, all.Count - count));

        public static IEnumerable<(TFirst, TSecond)> Zip<TFirst, TSecond>(this IEnumerable<TFirst> one, IEnumerable<TSecond> other) =>
            one.Zip(other, (first, second) => (first, second));

        public static IEnumerable<T> Order<T>(this IEnumerable<T> all) => all.OrderBy(each => each);

        private static readonly Random OneRandom = new();
    }

    internal static class NewerDirectoryApi
    {
        extension(Directory)
        {
            public static FileSystemInfo CreateSymbolicLink(string path, string target) =>
                NewerApi.CreateSymbolicLink(path, target);
        }
    }

    [Flags]
    internal enum UnixFileMode
    {
        OtherExecute = 1,
        OtherWrite = 2,
        OtherRead = 4,
        GroupExecute = 8,
        GroupWrite = 16,
        GroupRead = 32,
        UserExecute = 64,
        UserWrite = 128,
        UserRead = 256,
    }

    /// <summary>Starts a program itself, not by a shell, with each word as one argument.</summary>
    internal sealed class ProcessStartInfo
    {
        public ProcessStartInfo(string program, string arguments = "")
        {
            Info.FileName = program;
            Info.Arguments = arguments;
        }

        public bool RedirectStandardOutput { set => Info.RedirectStandardOutput = value; }

        public bool RedirectStandardError { set => Info.RedirectStandardError = value; }

        public bool UseShellExecute { set => Info.UseShellExecute = value; }

        public string WorkingDirectory { set => Info.WorkingDirectory = value; }

        public IDictionary<string, string?> Environment => Info.Environment;

        public List<string> ArgumentList { get; } = new();

        private System.Diagnostics.ProcessStartInfo Info { get; } = new() { UseShellExecute = false };

        public static implicit operator System.Diagnostics.ProcessStartInfo(ProcessStartInfo start)
        {
            start.Info.Arguments += string.Join(
                " ", start.ArgumentList.Select(word => "\"" + word.Replace("\\", "\\\\").Replace("\"", "\\\"") + "\""));
            return start.Info;
        }
    }

    /// <summary>A listener that `using` can end.</summary>
    internal sealed class TcpListener : System.Net.Sockets.TcpListener, IDisposable
    {
        public TcpListener(IPAddress address, int port)
            : base(address, port)
        {
        }

        public void Dispose() => Stop();
    }

    internal sealed class TaskCompletionSource : TaskCompletionSource<bool>
    {
        public TaskCompletionSource()
        {
        }

        public TaskCompletionSource(TaskCreationOptions options)
            : base(options)
        {
        }

        public void SetResult() => SetResult(true);

        public bool TrySetResult() => TrySetResult(true);
    }

    internal static class Libc
    {
        [DllImport("libc", SetLastError = true)]
        public static extern int symlink(string target, string path);

        [DllImport("libc", SetLastError = true)]
        public static extern int chmod(string path, uint mode);

        [DllImport("libc", SetLastError = true)]
        private static extern IntPtr readlink(string path, byte[] target, UIntPtr size);

        [DllImport("libc", SetLastError = true)]
        private static extern int stat(string path, byte[] facts);

        public static void Check(int result)
        {
            if (result != 0) throw new IOException("errno " + Marshal.GetLastWin32Error());
        }

        public static string? LinkTarget(string path)
        {
            var target = new byte[4096];
            var length = (int)readlink(path, target, (UIntPtr)target.Length);
            return length < 0 ? null : Encoding.UTF8.GetString(target, 0, length);
        }

        public static int ModeOf(string path)
        {
            var facts = new byte[256];
            Check(stat(path, facts));
            // struct stat of Linux has st_mode behind two words and, on x64, the number of links.
            return BitConverter.ToInt32(facts, RuntimeInformation.ProcessArchitecture == Architecture.X64 ? 24 : 16);
        }
    }
}

namespace System.Runtime.CompilerServices
{
    /// <summary>What the compiler makes of a range of an array.</summary>
    internal static class RuntimeHelpers
    {
        public static T[] GetSubArray<T>(T[] array, Range range)
        {
            var (start, length) = (range.Start.GetOffset(array.Length), 0);
            length = range.End.GetOffset(array.Length) - start;
            var part = new T[length];
            Array.Copy(array, start, part, 0, length);
            return part;
        }
    }
}
