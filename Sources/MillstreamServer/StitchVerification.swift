import HLSPlaylist
import MediaTiming
import PlaylistEditing
import ResourceAddressing

/// The check of an edited multivariant playlist that the sources of its edits can be stitched to its media playlists.
///
/// The formats of segments are known from the media playlists only. Without the check, a player would receive the multivariant
/// playlist, and then errors in place of its media playlists.
struct StitchVerification: Sendable {
    private let loader: OriginPlaylistLoader
    private let budget: EditBudget
    private let workers: EditWorkers
    private let time: any TimeSource

    /// The maximum number of variants that are tried until one of them can be stitched.
    private static let maximumVariantCount = 16
    /// The maximum time for which the response waits for media playlists: players usually end a request later.
    private static let maximumTime = Duration.seconds(5)

    /// Creates the check of one request.
    ///
    /// - Parameters:
    ///   - loader: The loading of media playlists, which the server should have in memory when players request them.
    ///   - budget: The budget of the request.
    ///   - workers: The executor for parsing and editing.
    ///   - time: The clock for the time limit.
    init(
        loader: OriginPlaylistLoader,
        budget: EditBudget,
        workers: EditWorkers,
        time: any TimeSource
    ) {
        self.loader = loader
        self.budget = budget
        self.workers = workers
        self.time = time
    }

    /// Verifies that a variant can be edited, unless its media playlist cannot be loaded in time or within the budget.
    ///
    /// - Parameters:
    ///   - presentation: The edited multivariant playlist.
    ///   - plan: The edits of the request.
    /// - Throws: `PlaylistEditError` with the code `cannotStitch`, which is that of the first variant, if no variant can be
    ///   stitched; `CancellationError`.
    func verify(_ presentation: EditedPresentation, _ plan: EditPlan) async throws {
        // The date and the earlier versions of a media playlist, on which the result can depend, are not known here.
        guard !plan.sources.isEmpty, !plan.continuesTimelines, !plan.dependsOnDate else { return }
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { try await verifyVariants(of: presentation) }
            group.addTask { [time] in try await time.sleep(for: Self.maximumTime) }
            defer { group.cancelAll() }
            try await group.next()
        }
    }

    private func verifyVariants(of presentation: EditedPresentation) async throws {
        var refusal: PlaylistEditError?
        for variant in presentation.playlist.variants.prefix(Self.maximumVariantCount) {
            guard let plan = presentation.plan(for: .variant(variant)) else { return }
            do {
                let playlist = try await loader.loadPlaylist(
                    at: variant.address.text,
                    variables: presentation.playlist.variables,
                    budget: budget
                )
                let editor = try PresentationEditor(plan, loader: loader, budget: budget)
                let prepared = try await editor.prepare(playlist)
                _ = try await workers.run { check in try prepared.apply(check: check) }
                // A player selects among the variants that it can load.
                return
            } catch let error as PlaylistEditError where error.code == .cannotStitch {
                refusal = refusal ?? error
            } catch {
                // The player receives the error in place of the media playlist, and selects another variant.
                return
            }
        }
        if let refusal { throw refusal }
    }
}
