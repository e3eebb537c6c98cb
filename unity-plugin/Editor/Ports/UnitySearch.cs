#nullable enable
using System;
using System.Collections.Generic;
using System.Linq;
using System.Threading;
using System.Threading.Tasks;
using JobBroker.Bridge.Ports;
using UnityEditor;
using UnityEditor.Search;
using SearchProvider = JobBroker.Bridge.Ports.SearchProvider;

namespace JobBroker.Bridge.Unity
{
    /// <summary>
    /// Unity Search. A search fills its list over many ticks; each tick looks whether it is done. Main thread only.
    /// </summary>
    internal sealed class UnitySearch : ISearch, IDisposable
    {
        private readonly List<Request> requests = new List<Request>();

        public IReadOnlyList<SearchProvider> Providers() => SearchService.Providers
            .Select(one => new SearchProvider(one.id, one.name, one.active, one.priority, one.filterId ?? ""))
            .ToList();

        public Task<IReadOnlyList<SearchHit>> FindAsync(
            string query,
            IReadOnlyList<string> providers,
            SearchMode mode,
            int maxResults,
            CancellationToken cancellation)
        {
            var ids = providers.Count > 0
                ? providers
                : SearchService.Providers.Where(one => one.active).Select(one => one.id).ToList();
            var context = SearchService.CreateContext(ids, query, FlagsOf(mode));
            var request = new Request(context, SearchService.Request(context, FlagsOf(mode)), maxResults, cancellation);
            requests.Add(request);
            Tick();
            return request.Task;
        }

        public void Tick() => requests.RemoveAll(request => request.IsOver());

        public void Dispose()
        {
            foreach (var request in requests) request.Cancel();
            requests.Clear();
        }

        private static SearchFlags FlagsOf(SearchMode mode)
        {
            switch (mode)
            {
                case SearchMode.Synchronous:
                    return SearchFlags.Synchronous;
                case SearchMode.WantsMore:
                    return SearchFlags.WantsMore;
                case SearchMode.Packages:
                    return SearchFlags.Packages;
                default:
                    // Sorted as well: it is the same flag, and its name is obsolete from 6000.5 on.
                    return SearchFlags.Default;
            }
        }

        private sealed class Request
        {
            private readonly TaskCompletionSource<IReadOnlyList<SearchHit>> answer =
                new TaskCompletionSource<IReadOnlyList<SearchHit>>();

            private readonly SearchContext context;
            private readonly ISearchList list;
            private readonly int maxResults;
            private readonly CancellationToken cancellation;

            public Request(SearchContext context, ISearchList list, int maxResults, CancellationToken cancellation)
            {
                this.context = context;
                this.list = list;
                this.maxResults = maxResults;
                this.cancellation = cancellation;
            }

            public Task<IReadOnlyList<SearchHit>> Task => answer.Task;

            public bool IsOver()
            {
                if (cancellation.IsCancellationRequested) return Cancel();
                if (list.pending && list.Count < maxResults) return false;
                try
                {
                    // Items that a provider took back are null.
                    var items = list.GetRange(0, list.Count).Where(item => item != null);
                    answer.SetResult(items.Take(maxResults).Select(Hit).ToList());
                }
                catch (Exception error)
                {
                    answer.SetException(error);
                }
                Close();
                return true;
            }

            public bool Cancel()
            {
                answer.TrySetCanceled();
                Close();
                return true;
            }

            private void Close()
            {
                list.Dispose();
                context.Dispose();
            }

            private SearchHit Hit(SearchItem item)
            {
                var path = AssetPath(item.id);
                var type = path.Length == 0 ? null : AssetDatabase.GetMainAssetTypeAtPath(path);
                return new SearchHit(
                    item.id,
                    item.GetLabel(context, true) ?? "",
                    item.GetDescription(context, true) ?? "",
                    item.provider?.id ?? "",
                    type?.Name ?? "",
                    path);
            }

            /// <summary>Found by the id, without loading the asset; empty for what is none.</summary>
            private static string AssetPath(string id)
            {
                if (GlobalObjectId.TryParse(id, out var global)) return AssetDatabase.GUIDToAssetPath(global.assetGUID) ?? "";
                return AssetDatabase.GetMainAssetTypeAtPath(id) == null ? "" : id;
            }
        }
    }
}
