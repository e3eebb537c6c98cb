#nullable enable
using System;
using System.IO;
using System.Runtime.InteropServices;
using System.Text;
using System.Threading;

namespace JobBroker.Bridge.Endpoint
{
    /// <summary>
    /// Files that only this user may read: mode 0600 in folders of 0700, from the moment they exist. On Windows they
    /// inherit the rights of the user's profile.
    /// </summary>
    internal static class PrivateFile
    {
        private const uint FileMode0600 = 0x180;

        internal static bool OnWindows => RuntimeInformation.IsOSPlatform(OSPlatform.Windows);

        /// <summary>
        /// Makes a file with this content unless there is one. Of several processes at once, one makes it, and none sees a part of
        /// it. Its folder is there. Throws IOException and UnauthorizedAccessException.
        /// </summary>
        public static void CreateOnce(string path, string text)
        {
            var fresh = path + "." + Guid.NewGuid().ToString("N") + ".new";
            try
            {
                CreateEmpty(fresh);
                File.WriteAllText(fresh, text);
                if (OnWindows) File.Move(fresh, path);
                // Where the file system has no links, two at once may both write it.
                else if (link(fresh, path) != 0 && !File.Exists(path)) MoveOver(fresh, path);
            }
            catch (IOException) when (File.Exists(path))
            {
                // Another process has made it.
            }
            finally
            {
                File.Delete(fresh);
            }
        }

        /// <summary>The path with links resolved; unchanged where that fails.</summary>
        public static string RealPath(string path) => TryRealPath(path) ?? path;

        /// <summary>The path with links resolved; null where it does not exist or is not accessible.</summary>
        public static string? TryRealPath(string path)
        {
            if (OnWindows) return Path.GetFullPath(path).TrimEnd('\\', '/');
            var resolved = realpath(path, IntPtr.Zero);
            if (resolved == IntPtr.Zero) return null;
            try
            {
                var length = 0;
                while (Marshal.ReadByte(resolved, length) != 0) length++;
                var bytes = new byte[length];
                Marshal.Copy(resolved, bytes, 0, length);
                return Encoding.UTF8.GetString(bytes);
            }
            finally
            {
                free(resolved);
            }
        }

        /// <summary>
        /// Creates an empty file, or removes the rights of other users from the existing one and keeps its content.
        /// Throws
        /// IOException.
        /// </summary>
        public static void Ensure(string path)
        {
            if (OnWindows) return;
            if (!File.Exists(path))
            {
                // Linked into its place: creating it there would truncate one that another process has just made.
                var fresh = path + ".new";
                File.Delete(fresh);
                CreateEmpty(fresh);
                link(fresh, path);
                File.Delete(fresh);
            }
            // One of another user stays as it is: whether it may be written shows when it is.
            TryTighten(path);
        }

        /// <summary>
        /// Removes the rights of other users from a file; links are left alone. False where only another user may do
        /// that.
        /// </summary>
        public static bool TryTighten(string path) =>
            OnWindows || IsLink(path) || chmod(path, FileMode0600) == 0 || !File.Exists(path);

        /// <summary>Whether a link is there, also one that leads nowhere. False on Windows.</summary>
        public static bool IsLink(string path) =>
            !OnWindows && readlink(path, new byte[1], (UIntPtr)1).ToInt64() >= 0;

        /// <summary>With its mode from the start: a token must not be readable for even a moment.</summary>
        public static void CreateEmpty(string path)
        {
            if (OnWindows) return;
            Disk.Announce(DiskStep.Open, path);
            // Not open(2): its mode is a variadic argument, which a call from here cannot pass on every processor.
            var descriptor = creat(path, FileMode0600);
            if (descriptor < 0) throw Failed("The file " + path + " cannot be made");
            close(descriptor);
        }

        /// <summary>Puts a file in the place of another, in one step where the system can.</summary>
        internal static void MoveOver(string from, string to)
        {
            Disk.Announce(DiskStep.Rename, to);
            if (!OnWindows)
            {
                if (rename(from, to) != 0) throw Failed("The file " + to + " cannot be replaced");
                return;
            }
            for (var left = 5; ; left--)
            {
                try
                {
                    if (File.Exists(to)) File.Replace(from, to, null);
                    else File.Move(from, to);
                    return;
                }
                catch (Exception error) when (left > 0 && (error is IOException || error is UnauthorizedAccessException))
                {
                    // Another process is reading it.
                    Thread.Sleep(20);
                }
            }
        }

        internal static IOException Failed(string what)
        {
            var errno = Marshal.GetLastWin32Error();
            return new IOException($"{what}: {Marshal.PtrToStringAnsi(strerror(errno))} (errno {errno})");
        }

        [DllImport("libc")]
        private static extern IntPtr strerror(int errno);

        [DllImport("libc", SetLastError = true)]
        private static extern int creat(string path, uint mode);

        [DllImport("libc")]
        private static extern int close(int descriptor);

        [DllImport("libc", SetLastError = true)]
        private static extern int chmod(string path, uint mode);

        [DllImport("libc", SetLastError = true)]
        private static extern int link(string existing, string path);

        [DllImport("libc", SetLastError = true)]
        private static extern IntPtr readlink(string path, byte[] target, UIntPtr size);

        [DllImport("libc", SetLastError = true)]
        private static extern int rename(string from, string to);

        [DllImport("libc")]
        private static extern IntPtr realpath(string path, IntPtr resolved);

        [DllImport("libc")]
        private static extern void free(IntPtr pointer);
    }
}
