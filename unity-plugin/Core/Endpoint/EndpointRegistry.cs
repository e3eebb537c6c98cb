#nullable enable
using System;
using System.Collections.Generic;
using System.IO;
using System.Security.Cryptography;
using Newtonsoft.Json;
using Newtonsoft.Json.Linq;

namespace JobBroker.Bridge.Endpoint
{
    /// <summary>
    /// The files by which workers find this Editor: one in the folder of all Editors and, where the project exists,
    /// one in its Library, without the token, because that folder is copied, cached and shared. Not for several
    /// threads at once.
    /// </summary>
    public sealed class EndpointRegistry
    {
        private readonly EditorIdentity identity;
        private readonly IBridgeLog log;
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
            written = record;
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
            foreach (var file in Files)
            {
                var text = file == Files[0] ? whole : withoutToken;
                any |= TryChange(file, "written", () => PrivateFile.Replace(file, text));
            }
            return any;
        }

        /// <summary>
        /// Removes the files that still are the ones written here: another process may have written them since.
        /// </summary>
        public void Remove()
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
                return true;
            }
            catch (Exception error) when (error is IOException || error is UnauthorizedAccessException)
            {
                log.Warn("The endpoint file " + file + " cannot be " + what + ": " + error.Message);
                return false;
            }
        }
    }
}
