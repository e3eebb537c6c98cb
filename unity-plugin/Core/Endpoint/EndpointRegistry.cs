#nullable enable
using System;
using System.Collections.Generic;
using System.IO;
using System.Linq;
using System.Security.Cryptography;
using System.Text;
using JobBroker.Bridge.Ledger;
using Newtonsoft.Json;
using Newtonsoft.Json.Linq;

namespace JobBroker.Bridge.Endpoint
{
    /// <summary>
    /// The files by which workers find this Editor: one in the folder of all Editors and, where the project exists,
    /// one in its Library, without the token, because that folder is copied, cached and shared. Any thread.
    /// </summary>
    public sealed class EndpointRegistry
    {
        private readonly EditorIdentity identity;
        private readonly IBridgeLog log;
        private readonly object gate = new object();
        private readonly HashSet<string> refused = new HashSet<string>();
        private EndpointRecord? written;

        /// <param name="editorsFolder">For instance ~/.unity-job-broker/editors; made if it is missing.</param>
        public EndpointRegistry(string editorsFolder, EditorIdentity identity, IBridgeLog log)
        {
            this.identity = identity;
            this.log = log;
            var files = new List<string> { Path.Combine(editorsFolder, identity.EditorId + ".json") };
            if (Directory.Exists(identity.ProjectPath))
            {
                files.Add(Path.Combine(identity.ProjectPath, "Library", "JobBroker", "endpoint.json"));
            }
            Files = files;
        }

        public IReadOnlyList<string> Files { get; }

        /// <summary>A new secret of 24 random bytes, as 32 characters.</summary>
        public static string NewToken()
        {
            var bytes = new byte[24];
            using (var random = RandomNumberGenerator.Create()) random.GetBytes(bytes);
            return Convert.ToBase64String(bytes).Replace('+', '-').Replace('/', '_');
        }

        /// <summary>
        /// Writes every file anew. One that cannot be written is logged: a worker finds the Editor by the other.
        /// </summary>
        /// <returns>Whether at least one was written.</returns>
        public bool Write(EndpointRecord record)
        {
            lock (gate)
            {
                written = record;
                return Write(record, Files);
            }
        }

        /// <summary>Writes what somebody has removed since, and what the disk refused; for every heartbeat.</summary>
        public void Restore()
        {
            lock (gate)
            {
                if (written == null) return;
                var missing = Files.Where(file => refused.Contains(file) || !File.Exists(file)).ToList();
                if (missing.Count > 0) Write(written, missing);
            }
        }

        /// <summary>
        /// Removes the files that still are the ones written here: another process may have written them since.
        /// </summary>
        public void Remove()
        {
            lock (gate)
            {
                var ours = written;
                written = null;
                if (ours == null) return;
                foreach (var file in Files)
                {
                    TryChange(file, "removed", () =>
                    {
                        if (IsOf(ours, file)) File.Delete(file);
                    });
                }
            }
        }

        private bool Write(EndpointRecord record, IEnumerable<string> files)
        {
            var json = new JObject
            {
                ["editorId"] = identity.EditorId,
                ["projectName"] = identity.ProjectName,
                ["projectPath"] = identity.ProjectPath,
                ["unityVersion"] = record.UnityVersion,
                ["pid"] = record.ProcessId,
                ["pidStartedAt"] = record.ProcessStartedAtMs,
                ["host"] = "127.0.0.1",
                ["port"] = record.Port,
                ["token"] = record.Token,
                ["phase"] = record.Phase,
            };
            var whole = json.ToString(Formatting.None);
            json.Remove("token");
            var withoutToken = json.ToString(Formatting.None);
            var any = false;
            foreach (var file in files)
            {
                var text = Encoding.UTF8.GetBytes(file == Files[0] ? whole : withoutToken);
                any |= TryChange(file, "written", () =>
                {
                    PrivateFolder.Create(Path.GetDirectoryName(file)!);
                    AtomicFile.Write(file, false, stream => stream.Write(text, 0, text.Length));
                });
            }
            return any;
        }

        private static bool IsOf(EndpointRecord record, string file)
        {
            if (!File.Exists(file)) return false;
            try
            {
                var found = JObject.Parse(File.ReadAllText(file));
                return found["pid"] is JValue { Value: long pid } && pid == record.ProcessId
                    && found["pidStartedAt"] is JValue { Value: long startedAt } && startedAt == record.ProcessStartedAtMs
                    && found["port"] is JValue { Value: long port } && port == record.Port
                    && (!(found["token"] is JValue { Value: string token }) || token == record.Token);
            }
            catch (JsonException)
            {
                return false;
            }
        }

        private bool TryChange(string file, string what, Action act)
        {
            try
            {
                act();
                refused.Remove(file);
                return true;
            }
            catch (Exception error) when (error is IOException || error is UnauthorizedAccessException)
            {
                if (refused.Add(file)) log.Warn("The endpoint file " + file + " cannot be " + what + ": " + error.Message);
                return false;
            }
        }
    }
}
