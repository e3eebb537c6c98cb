#nullable enable
using System.IO;
using System.Text;

namespace JobBroker.Bridge.Endpoint
{
    /// <summary>
    /// Who this Editor is: `&lt;project-slug&gt;@&lt;short hash of machine and real project path&gt;`.
    /// </summary>
    public sealed class EditorIdentity
    {
        private EditorIdentity(string editorId, string projectName, string projectPath)
        {
            EditorId = editorId;
            ProjectName = projectName;
            ProjectPath = projectPath;
        }

        public string EditorId { get; }

        public string ProjectName { get; }

        /// <summary>Links resolved, if the folder exists.</summary>
        public string ProjectPath { get; }

        /// <param name="projectPath">Absolute path of the project's folder.</param>
        /// <param name="machine">
        /// Its full host name, `Dns.GetHostName()`: `Environment.MachineName` may be cut at a dot.
        /// </param>
        public static EditorIdentity Of(string projectPath, string machine)
        {
            var path = Directory.Exists(projectPath) ? PrivateFile.RealPath(projectPath) : projectPath;
            var name = Path.GetFileName(path.TrimEnd(Path.DirectorySeparatorChar, Path.AltDirectorySeparatorChar));
            var hash = Sha256.Of(machine + "\n" + path);
            var id = new StringBuilder(Slug(name)).Append('@');
            for (var at = 0; at < 4; at++) id.Append(hash[at].ToString("x2"));
            return new EditorIdentity(id.ToString(), name, path);
        }

        /// <summary>The same project under an id that was chosen.</summary>
        public EditorIdentity WithId(string editorId) => new EditorIdentity(editorId, ProjectName, ProjectPath);

        /// <summary>
        /// Lower case letters and digits of ASCII; runs of anything else become one dash, none at the ends.
        /// </summary>
        private static string Slug(string name)
        {
            var slug = new StringBuilder();
            var dash = false;
            foreach (var c in name)
            {
                var lower = Lower(c);
                if (lower == '-')
                {
                    dash = true;
                    continue;
                }
                if (dash && slug.Length > 0) slug.Append('-');
                slug.Append(lower);
                // Its lower case has a second character, a combining dot.
                dash = c == '\u0130';
            }
            return slug.Length == 0 ? "project" : slug.ToString();
        }

        /// <summary>
        /// Only these become ASCII in lower case; '-' for all others. Runtimes differ in their tables.
        /// </summary>
        private static char Lower(char c)
        {
            if ((c >= 'a' && c <= 'z') || (c >= '0' && c <= '9')) return c;
            if (c >= 'A' && c <= 'Z') return (char)(c + 32);
            return c == '\u212A' ? 'k' : c == '\u0130' ? 'i' : '-';
        }
    }
}
