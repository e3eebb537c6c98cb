#nullable enable
using System;
using System.Globalization;
using System.IO;
using System.Linq;
using System.Text;
using JobBroker.Bridge.Endpoint;

namespace JobBroker.Bridge.Config
{
    /// <summary>
    /// Clients' files on the disk: read as they are, replaced whole or not at all, with a copy of what was there.
    /// Faults are IOExceptions whose message says what to do.
    /// </summary>
    public sealed class McpConfigRepository
    {
        private static readonly byte[] Mark = { 0xEF, 0xBB, 0xBF };
        private static readonly UTF8Encoding Strict = new UTF8Encoding(false, true);

        /// <summary>The file as it is now; one that is not there is empty.</summary>
        public McpConfigFile Read(string path)
        {
            var bytes = BytesOf(path);
            if (bytes == null) return new McpConfigFile(path, null, "");
            var skip = HasMark(bytes) ? Mark.Length : 0;
            try
            {
                return new McpConfigFile(path, bytes, Strict.GetString(bytes, skip, bytes.Length - skip));
            }
            catch (ArgumentException)
            {
                throw new IOException($"{path} is not UTF-8 text and was left as it is: save it as UTF-8, then try again");
            }
        }

        /// <summary>
        /// Writes the file anew and answers where the copy of the old one is; null when there was none. A reader sees
        /// the old file or the new one. Nothing is replaced that is not what was read. Mode and symbolic links stay.
        /// </summary>
        public string? Replace(McpConfigFile file, string text, DateTime now)
        {
            try
            {
                return Replaced(file, text, now);
            }
            catch (UnauthorizedAccessException error)
            {
                throw new IOException($"{file.Path} cannot be written ({error.Message}): fix that, then try again", error);
            }
        }

        private static string? Replaced(McpConfigFile file, string text, DateTime now)
        {
            var target = TargetOf(file.Path);
            if (file.Exists && (File.GetAttributes(target) & FileAttributes.ReadOnly) != 0)
            {
                throw new IOException($"{file.Path} is read-only and was left as it is: make it writable, then try again");
            }
            Directory.CreateDirectory(Path.GetDirectoryName(target)!);
            var temporary = target + "." + Guid.NewGuid().ToString("N").Substring(0, 12) + ".tmp";
            try
            {
                Write(temporary, file.Exists ? target : null, Content(file, text));
                var current = BytesOf(target);
                if (current == null ? file.Exists : file.Bytes == null || !current.SequenceEqual(file.Bytes))
                {
                    throw new IOException(
                        $"{file.Path} was changed by another program just now and was left as it is: try again");
                }
                var backup = BackUp(file, target, now);
                PrivateFile.MoveOver(temporary, target);
                return backup;
            }
            finally
            {
                File.Delete(temporary);
            }
        }

        private static byte[] Content(McpConfigFile file, string text)
        {
            var content = Strict.GetBytes(text);
            return file.Bytes != null && HasMark(file.Bytes) ? Mark.Concat(content).ToArray() : content;
        }

        /// <summary>A copy of the old file first: that has its mode, which no API of .NET Standard can set.</summary>
        private static void Write(string path, string? like, byte[] content)
        {
            if (like != null) File.Copy(like, path);
            using (var stream = new FileStream(path, like == null ? FileMode.CreateNew : FileMode.Truncate, FileAccess.Write))
            {
                stream.Write(content, 0, content.Length);
                stream.Flush(true);
            }
        }

        private static string? BackUp(McpConfigFile file, string target, DateTime now)
        {
            if (!file.Exists) return null;
            var stamp = now.ToUniversalTime().ToString("yyyy-MM-ddTHH-mm-ss-fffZ", CultureInfo.InvariantCulture);
            var backup = file.Path + ".backup-" + stamp;
            File.Copy(target, backup, false);
            return backup;
        }

        /// <summary>Where a symbolic link leads; people keep their settings in a repository.</summary>
        private static string TargetOf(string path)
        {
            if (!IsLink(path)) return path;
            var target = PrivateFile.RealPath(path);
            if (target != path && !IsLink(target)) return target;
            throw new IOException(
                $"{path} is a symbolic link that cannot be followed from here: use the command line "
                + "(unity-broker install), which can");
        }

        private static bool IsLink(string path)
        {
            try
            {
                return (File.GetAttributes(path) & FileAttributes.ReparsePoint) != 0;
            }
            catch (Exception error) when (error is FileNotFoundException || error is DirectoryNotFoundException)
            {
                return false;
            }
        }

        private static byte[]? BytesOf(string path)
        {
            try
            {
                return File.ReadAllBytes(path);
            }
            catch (Exception error) when (error is FileNotFoundException || error is DirectoryNotFoundException)
            {
                return null;
            }
            catch (Exception error) when (error is IOException || error is UnauthorizedAccessException)
            {
                throw new IOException($"{path} cannot be read ({error.Message}): fix that, then try again", error);
            }
        }

        private static bool HasMark(byte[] bytes) => bytes.Take(Mark.Length).SequenceEqual(Mark);
    }
}
