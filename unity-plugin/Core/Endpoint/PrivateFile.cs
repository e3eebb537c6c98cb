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
        private const uint FolderMode0700 = 0x1C0;

        private static bool OnWindows => RuntimeInformation.IsOSPlatform(OSPlatform.Windows);

        /// <summary>
        /// Puts a whole file in place of the old one: readers see the one or the other. Throws IOException and
        /// UnauthorizedAccessException, leaving the old one as it was.
        /// </summary>
        public static void Replace(string path, string text)
        {
            CreateFolder(Path.GetDirectoryName(path)!);
            var fresh = path + ".new";
            try
            {
                // What a crash left there.
                File.Delete(fresh);
                CreateEmpty(fresh);
                File.WriteAllBytes(fresh, Encoding.UTF8.GetBytes(text));
                MoveOver(fresh, path);
            }
            catch
            {
                File.Delete(fresh);
                throw;
            }
        }

        /// <summary>The path with links resolved; as it is where that cannot be told.</summary>
        public static string RealPath(string path)
        {
            if (OnWindows) return Path.GetFullPath(path).TrimEnd('\\', '/');
            var resolved = realpath(path, IntPtr.Zero);
            if (resolved == IntPtr.Zero) return path;
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
        /// Missing folders become this user's alone; one that is there keeps the mode that somebody gave it.
        /// </summary>
        private static void CreateFolder(string folder)
        {
            if (OnWindows)
            {
                Directory.CreateDirectory(folder);
                return;
            }
            var parent = Path.GetDirectoryName(folder);
            if (!string.IsNullOrEmpty(parent) && !Directory.Exists(parent)) CreateFolder(parent);
            if (mkdir(folder, FolderMode0700) == 0 || Directory.Exists(folder)) return;
            throw Failed("The folder " + folder + " cannot be made");
        }

        /// <summary>With its mode from the start: a token must not be readable for even a moment.</summary>
        private static void CreateEmpty(string path)
        {
            if (OnWindows) return;
            // Not open(2): its mode is a variadic argument, which a call from here cannot pass on every processor.
            var descriptor = creat(path, FileMode0600);
            if (descriptor < 0) throw Failed("The file " + path + " cannot be made");
            close(descriptor);
        }

        private static void MoveOver(string from, string to)
        {
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
                catch (IOException) when (left > 0)
                {
                    // Somebody reads it at this moment.
                    Thread.Sleep(20);
                }
            }
        }

        private static IOException Failed(string what) =>
            new IOException(what + " (errno " + Marshal.GetLastWin32Error() + ").");

        [DllImport("libc", SetLastError = true)]
        private static extern int creat(string path, uint mode);

        [DllImport("libc")]
        private static extern int close(int descriptor);

        [DllImport("libc", SetLastError = true)]
        private static extern int mkdir(string path, uint mode);

        [DllImport("libc", SetLastError = true)]
        private static extern int rename(string from, string to);

        [DllImport("libc")]
        private static extern IntPtr realpath(string path, IntPtr resolved);

        [DllImport("libc")]
        private static extern void free(IntPtr pointer);
    }
}
