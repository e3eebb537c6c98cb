#nullable enable
using System;
using System.IO;
using System.Runtime.InteropServices;

namespace JobBroker.Bridge.Endpoint
{
    /// <summary>
    /// Folders that only this user may enter: mode 0700. On Windows they inherit the rights of the user's profile.
    /// </summary>
    internal static class PrivateFolder
    {
        private const uint Mode0700 = 0x1C0;

        /// <summary>EPERM</summary>
        private const int NotPermitted = 1;

        /// <summary>EINVAL</summary>
        private const int Invalid = 22;

        private static bool OnWindows => RuntimeInformation.IsOSPlatform(OSPlatform.Windows);

        /// <summary>
        /// Creates missing folders with mode 0700; an existing folder keeps its mode.
        /// </summary>
        public static void Create(string folder)
        {
            if (OnWindows)
            {
                Directory.CreateDirectory(folder);
                return;
            }
            var parent = Path.GetDirectoryName(folder);
            if (!string.IsNullOrEmpty(parent) && !Directory.Exists(parent)) Create(parent);
            if (mkdir(folder, Mode0700) == 0 || Directory.Exists(folder)) return;
            throw PrivateFile.Failed("The folder " + folder + " cannot be made");
        }

        /// <summary>
        /// Creates a folder, or removes the rights of other users from the existing one: an older version or a restored
        /// backup may have left it open. Throws UnauthorizedAccessException, naming the command, where
        /// only another user may do that.
        /// </summary>
        public static void RestrictToUser(string folder)
        {
            Create(folder);
            if (OnWindows || chmod(folder, Mode0700) == 0) return;
            if (Marshal.GetLastWin32Error() != NotPermitted)
            {
                throw PrivateFile.Failed("The rights of the folder " + folder + " cannot be changed");
            }
            throw new UnauthorizedAccessException(
                $"The folder {folder} belongs to another user, who could read and change what this Editor keeps there. Give "
                + $"it to this user and run \"chmod 700 '{folder}'\", or remove it: \"rm -r '{folder}'\".");
        }

        /// <summary>
        /// Makes renames in it durable. Throws IOException. Windows, and file systems that cannot flush a folder, do that by
        /// themselves.
        /// </summary>
        public static void Flush(string folder)
        {
            Disk.Announce(DiskStep.Flush, folder);
            if (OnWindows) return;
            var descriptor = open(folder, 0);
            if (descriptor < 0) throw PrivateFile.Failed("The folder " + folder + " cannot be opened");
            var flushed = fsync(descriptor);
            var failure = flushed == 0 || Marshal.GetLastWin32Error() == Invalid
                ? null
                : PrivateFile.Failed("The folder " + folder + " cannot be flushed");
            close(descriptor);
            if (failure != null) throw failure;
        }

        [DllImport("libc", SetLastError = true)]
        private static extern int open(string path, int flags);

        [DllImport("libc", SetLastError = true)]
        private static extern int fsync(int descriptor);

        [DllImport("libc")]
        private static extern int close(int descriptor);

        [DllImport("libc", SetLastError = true)]
        private static extern int mkdir(string path, uint mode);

        [DllImport("libc", SetLastError = true)]
        private static extern int chmod(string path, uint mode);
    }
}
