public import HLSPlaylist
import ResourceAddressing

/// A source of playlists for a ``PresentationEditor``.
public protocol PlaylistLoader: Sendable {
    /// Loads and parses a playlist.
    ///
    /// - Parameters:
    ///   - source: The URL of the playlist, or another name that an edit uses for it.
    ///   - variables: The variables that the playlist may import from its multivariant playlist.
    ///   - budget: The budget, which counts all received bytes and contains the limits for parsing.
    /// - Returns: The playlist.
    /// - Throws: An error if the playlist cannot be loaded or parsed, or if it exceeds the budget.
    func loadPlaylist(at source: String, variables: [String: String], budget: EditBudget) async throws -> Playlist
}

/// The editor of presentations that the command line, the server and the player share.
///
/// An edit has two steps. ``prepare(_:)`` loads the playlists that the edits insert, ``PreparedEdit/apply(check:)`` computes
/// the result without input or output. Media playlists of a presentation are edited one by one, when a player requests
/// them or all together by ``files(of:)``.
public struct PresentationEditor: Sendable {
    private let plan: EditPlan
    private let loader: any PlaylistLoader
    private let budget: EditBudget
    private let date: ProgramDateTime?
    private let parts: PartDelivery?

    /// Creates an editor for one playlist.
    ///
    /// - Parameters:
    ///   - plan: The edits.
    ///   - loader: The source of the playlists that the edits insert.
    ///   - budget: The budget for these playlists and the result.
    ///   - date: The date at which the playlist is requested, for edits whose result depends on it, such as
    ///     ``PlaylistEdit/live(_:)``.
    /// - Throws: ``PlaylistEditError`` if the plan exceeds the limits of the budget.
    public init(
        _ plan: EditPlan,
        loader: any PlaylistLoader,
        budget: EditBudget = EditBudget(),
        date: ProgramDateTime? = nil
    ) throws(PlaylistEditError) {
        try self.init(plan, loader: loader, budget: budget, date: date, parts: nil)
    }

    /// Creates an editor for a server that delivers partial segments.
    ///
    /// - Parameters:
    ///   - plan: The edits.
    ///   - loader: The source of the playlists that the edits insert.
    ///   - budget: The budget for these playlists and the result.
    ///   - date: The date at which the playlist is requested.
    ///   - parts: The delivery of partial segments; `nil` if no server delivers them.
    /// - Throws: ``PlaylistEditError`` if the plan exceeds the limits of the budget.
    package init(
        _ plan: EditPlan,
        loader: any PlaylistLoader,
        budget: EditBudget,
        date: ProgramDateTime?,
        parts: PartDelivery?
    ) throws(PlaylistEditError) {
        self.parts = parts
        try budget.limits.verify(plan)
        self.date = date
        self.plan = plan
        self.loader = loader
        self.budget = budget
    }

    /// Loads the playlists that the edits insert into a playlist.
    ///
    /// - Throws: ``PlaylistEditError`` if a playlist cannot be inserted, or the error of the loader.
    public func prepare(_ playlist: Playlist) async throws -> PreparedEdit {
        var sources: [(name: String, playlist: Playlist)] = []
        for name in plan.sources
        where GapPlaylist.playlist(at: name) == nil && !sources.contains(where: { $0.name == name }) {
            do {
                sources.append((name, try await loader.loadPlaylist(at: name, variables: [:], budget: budget)))
            } catch let error where !(error is CancellationError) && plan.isOptional(name) && playlist.mayBeLive {
                // A live stream does not stop because what is played in its breaks is missing.
                continue
            }
        }
        switch playlist {
        case .multivariant(let playlist):
            let sourcesByName = Dictionary(uniqueKeysWithValues: sources.map { ($0.name, $0.playlist) })
            let stitched = try playlist.withSeparateAudio(for: sourcesByName, limits: budget.limits.result)
            // A match exists for every variant and audio rendition.
            let needsGaps = playlist.renditions.contains { $0.type != .audio && $0.uri != nil }
            var gaps: [String: String] = [:]
            for (name, source) in sources where needsGaps {
                let media = try await mediaPlaylist(of: source, name)
                gaps[name] = try GapPlaylist.address(of: media.duration, target: media.targetDuration)
            }
            return PreparedEdit(
                plan: plan,
                input: .multivariant(
                    playlist,
                    sources: sourcesByName,
                    gaps: gaps,
                    alignment: try await alignment(of: stitched, sourcesByName, gaps),
                    keys: try await remainingKeys(of: playlist)
                ),
                limits: budget.limits.result,
                date: date,
                parts: parts
            )
        case .media(let playlist):
            var media: [String: MediaPlaylist] = [:]
            var reduced: [String] = []
            for (name, source) in sources {
                media[name] = try await mediaPlaylist(of: source, name)
                if case .multivariant(let other) = source, other.variants.count > 1 { reduced.append(name) }
            }
            return PreparedEdit(
                plan: plan,
                input: .media(playlist, sources: media),
                limits: budget.limits.result,
                date: date,
                parts: parts,
                reducedSources: reduced
            )
        }
    }

    /// Returns the keys that the media playlists use that the filters leave; `nil` if no edit depends on them.
    private func remainingKeys(of playlist: MultivariantPlaylist) async throws -> Set<SessionKey>? {
        guard plan.edits.contains(where: \.steps.needsKeys) else { return nil }
        let filters = EditPlan(plan.edits.filter { !$0.steps.needsKeys })
        return try await keys(of: filters.applied(to: playlist, limits: budget.limits.result))
    }

    /// Loads what determines where the renditions of a presentation are cut, and where it starts: the media playlist of a
    /// variant with video, and the playlists that are inserted into it.
    ///
    /// Live playlists are not aligned, because their boundaries move, other than those of events.
    ///
    /// - Returns: The loaded playlists; `nil` if the presentation needs no alignment, or the media playlist cannot be loaded.
    private func alignment(
        of playlist: MultivariantPlaylist,
        _ sources: [String: Playlist],
        _ gaps: [String: String]
    ) async throws -> EditAlignment? {
        let last = plan.edits.lastIndex(where: \.isAligned)
        let movesStart = plan.movesStart(of: playlist)
        guard last != nil || movesStart,
            let variant = playlist.variants.first(where: { $0.resolution != nil }) ?? playlist.variants.first
        else { return nil }
        let isAlignedForVideo = plan.edits.contains(where: \.isAlignedForVideo)
        // Variants can have segments of different durations too.
        let hasOtherTracks =
            playlist.variants.contains { $0.uri != variant.uri } || !playlist.iFrameVariants.isEmpty
            || playlist.renditions.contains { $0.uri != nil }
        guard isAlignedForVideo || hasOtherTracks || movesStart else { return nil }
        let media = try await video(of: variant, in: playlist)
        guard let video = media, !isAlignedForVideo || !video.isLive else {
            guard isAlignedForVideo else { return nil }
            throw PlaylistEditError.cannotStitch(
                reason: "\(variant.address), which determines the timeline of the channel, is live or cannot be loaded"
            )
        }
        let edits = try plan.childPlans(sources: sources, gaps: gaps).plan(for: .variant(variant)).edits
        // Edits after the last one that is aligned have no effect on it.
        let count = last.map { last in plan.edits.prefix(through: last).count { !$0.isFilter } } ?? 0
        var inserted: [String: MediaPlaylist] = [:]
        for (index, name) in edits.enumerated().compactMap({ index, edit in edit.source.map { (index, $0) } })
        where inserted[name] == nil && GapPlaylist.playlist(at: name) == nil {
            // The last edit that is aligned, and later ones, matter only for the start position and for what depends on the playlist.
            let isNeeded = index < count - 1
            let isUsed = movesStart || edits[index].steps.alignment?.dependsOnInserted == true && index < count
            guard isNeeded || isUsed && !video.isLive else { continue }
            do {
                inserted[name] = try await mediaPlaylist(of: loaded(name, sources), name)
            } catch let error where !isNeeded && !(error is CancellationError) {
                // It is reported when the variant is edited.
                continue
            }
        }
        return EditAlignment(
            video: video,
            videoURI: variant.uri,
            edits: edits,
            alignedCount: count,
            movesStart: movesStart,
            inserted: inserted
        )
    }

    /// Returns a playlist that is inserted, which is loaded unless it is known.
    private func loaded(_ name: String, _ sources: [String: Playlist]) async throws -> Playlist {
        if let known = sources[name] { return known }
        return try await loader.loadPlaylist(at: name, variables: [:], budget: budget)
    }

    /// Returns the media playlist of a variant, or `nil` if its times change or it cannot be loaded within the budget.
    private func video(of variant: Variant, in playlist: MultivariantPlaylist) async throws -> MediaPlaylist? {
        do {
            guard case .media(let media) = try await load(variant.address, of: playlist) else {
                return nil
            }
            return media.timesRemain ? media : nil
        } catch is CancellationError {
            throw CancellationError()
        } catch {
            // Players skip a variant that cannot be loaded.
            return nil
        }
    }

    /// Returns a source as a media playlist; for a multivariant playlist, that of the variant with the lowest bit rate.
    private func mediaPlaylist(of source: Playlist, _ name: String) async throws -> MediaPlaylist {
        switch source {
        case .media(let playlist): return playlist
        case .multivariant(let playlist):
            guard let variant = StitchMatching(playlist).lowestBitRateVariant,
                case .media(let media) = try await load(variant, of: playlist)
            else { throw PlaylistEditError.cannotStitch(reason: "\(ResourceAddress(name)) has no variants") }
            return media
        }
    }

    /// Loads a media playlist of a presentation.
    func load(
        _ address: ResourceAddress,
        of parent: MultivariantPlaylist,
        budget: EditBudget? = nil
    ) async throws -> Playlist {
        let budget = budget ?? self.budget
        return try await loader.loadPlaylist(at: address.text, variables: parent.variables, budget: budget)
    }

    /// Edits all media playlists of an edited presentation.
    ///
    /// Each media playlist is loaded and edited within the limits of the editor's budget.
    ///
    /// - Parameter presentation: The result of ``PreparedEdit/apply(check:)``.
    /// - Returns: The files of a folder with the edited presentation. Media has absolute URLs. Media playlists keep their
    ///   paths relative to the source where these are plain paths. The last file is the multivariant playlist,
    ///   `multivariant.m3u8`, which refers to the other files.
    /// - Throws: ``PlaylistEditError``, or the error of the loader.
    public func files(of presentation: EditedPresentation) async throws -> [EditedFile] {
        let playlist = presentation.playlist
        var names: [EditedSource: String] = [:]
        var files: [EditedFile] = []
        for (entry, name) in Self.fileNames(of: playlist) {
            guard let address = entry.address, let plan = presentation.plan(for: entry),
                names[EditedSource(address: address.text, plan: plan)] == nil
            else {
                continue
            }
            let budget = EditBudget(budget.limits)
            guard case .media(let media) = try await load(address, of: playlist, budget: budget) else {
                throw PlaylistParsingError.unexpectedKind(found: .multivariant)
            }
            // The files are not in the folder of the segments, and each of them can be played alone.
            let absolute = try Playlist.media(media).withAbsoluteAddresses(limits: budget.limits.result)
                .definingExternalVariables(limits: budget.limits.result)
            let edited = try await PresentationEditor(plan, loader: loader, budget: budget, date: date)
                .prepare(absolute).apply()
            names[EditedSource(address: address.text, plan: plan)] = name
            files.append(EditedFile(name: name, bytes: edited.playlist.bytes))
        }
        let top = try Playlist.multivariant(playlist).rewritingAddresses(limits: budget.limits.result) { address in
            let plan = presentation.plan(for: address)
            return plan.flatMap { names[EditedSource(address: address.address.text, plan: $0)] }
                ?? address.absoluteText
        }.definingExternalVariables(limits: budget.limits.result)
        return files + [EditedFile(name: "multivariant.m3u8", bytes: top.bytes)]
    }

    /// A media playlist with its edits: the audio of a variant can have others than its video.
    private struct EditedSource: Hashable {
        let address: String
        let plan: EditPlan
    }

    private static func fileNames(of playlist: MultivariantPlaylist) -> [(PresentationEntry, String)] {
        let variants = playlist.variants.enumerated().map { number, variant in
            (PresentationEntry.variant(variant), "variant-\(number).m3u8")
        }
        let renditions = playlist.renditions.enumerated().map { number, rendition in
            (PresentationEntry.rendition(rendition), "rendition-\(number).m3u8")
        }
        let iFrames = playlist.iFrameVariants.enumerated().map { number, variant in
            (PresentationEntry.variant(variant), "iframes-\(number).m3u8")
        }
        let entries = variants + renditions + iFrames
        // File systems may not distinguish case.
        var taken = Set(entries.map(\.1) + ["multivariant.m3u8"])
        return entries.map { entry, name in
            guard let path = entry.uri.flatMap(plainPath), taken.insert(path.lowercased()).inserted else {
                return (entry, name)
            }
            return (entry, path)
        }
    }

    /// Returns the path of a media playlist in the folder of its multivariant playlist; `nil` if it is not a short one of
    /// letters, digits, hyphens, underscores and dots.
    private static func plainPath(_ uri: String) -> String? {
        let path = uri.prefix { $0 != "?" && $0 != "#" }
        let components = path.split(separator: "/", omittingEmptySubsequences: false)
        let isPlain = components.allSatisfy { component in
            component.first.map { $0 != "." } ?? false
                && component.utf8.allSatisfy { byte in
                    switch byte {
                    case 0x30...0x39, 0x41...0x5A, 0x61...0x7A, 0x2D, 0x2E, 0x5F: true
                    default: false
                    }
                }
        }
        guard isPlain, path.utf8.count <= 200, components.count <= 8, path.lowercased().hasSuffix(".m3u8") else {
            return nil
        }
        return String(path)
    }
}

extension Playlist {
    /// A Boolean value that indicates whether the playlist is live, or refers to playlists that may be.
    fileprivate var mayBeLive: Bool {
        switch self {
        case .multivariant: true
        case .media(let playlist): playlist.isLive
        }
    }
}

/// A playlist with all values that are needed to edit it.
public struct PreparedEdit: Sendable {
    enum Input: Sendable {
        case multivariant(
            MultivariantPlaylist,
            sources: [String: Playlist],
            gaps: [String: String],
            alignment: EditAlignment?,
            keys: Set<SessionKey>?
        )
        case media(MediaPlaylist, sources: [String: MediaPlaylist])
    }

    let plan: EditPlan
    let input: Input
    let limits: PlaylistLimits
    var date: ProgramDateTime?
    var parts: PartDelivery?
    /// The breaks of another track of the same live presentation, whose numbers a track has that was not edited yet.
    package var sibling = BreakTimelines()
    /// The names of inserted multivariant playlists of which only the variant with the lowest bit rate is used, because
    /// they are inserted into a media playlist.
    public private(set) var reducedSources: [String] = []

    /// Applies the edits.
    ///
    /// - Parameter check: A closure that is called between steps, and throws an error to stop.
    /// - Returns: The edited playlist.
    /// - Throws: ``PlaylistEditError``, or the error of `check`.
    public func apply(check: () throws -> Void = {}) throws -> EditedPlaylist {
        var timelines = BreakTimelines()
        return try apply(continuing: &timelines, check: check)
    }

    /// Applies the edits to the next version of a live playlist.
    ///
    /// - Parameters:
    ///   - timelines: The breaks of the earlier versions of this playlist, to which those of this version are added.
    ///   - check: A closure that is called between steps, and throws an error to stop.
    /// - Returns: The edited playlist.
    /// - Throws: ``PlaylistEditError``, or the error of `check`; `timelines` is then unchanged.
    public func apply(
        continuing timelines: inout BreakTimelines,
        check: () throws -> Void = {}
    ) throws -> EditedPlaylist {
        switch input {
        case .multivariant(let playlist, let sources, let gaps, let alignment, let keys):
            let context = EditContext(limits: limits, date: date, keys: keys)
            var edited = try plan.applied(to: playlist, sources: sources, context)
            try check()
            if let alignment {
                edited = try alignment.movingStart(of: edited, from: playlist, context, check: check)
            }
            let aligned = try alignment.flatMap { alignment in
                alignment.alignedCount > 0 ? try alignment.plans(for: plan, context, check: check) : nil
            }
            return .multivariant(
                try EditedPresentation(
                    edited,
                    declaring: try plan.declaringStitchedMedia(of: sources, in: edited, limits: limits),
                    plans: plan.childPlans(sources: sources, gaps: gaps, aligned: aligned),
                    omitsIFrameVariants: !playlist.iFrameVariants.isEmpty && !plan.edits.contains(.noIFrames)
                        && EditPlan.lacksIFrames(sources),
                    check: check
                )
            )
        case .media(let playlist, let sources):
            var edited = playlist
            let record = BreakRecord(timelines, sibling: sibling)
            let context = EditContext(
                limits: limits,
                sources: sources,
                original: playlist,
                date: date,
                breaks: record,
                parts: parts
            )
            for edit in plan.edits {
                try check()
                edited = try EditPlan([edit]).applied(to: edited, context)
            }
            let continued = record.timelines
            guard continued.size <= BreakTimelines.maximumSize else {
                throw PlaylistEditError.tooLarge(.byteCount(BreakTimelines.maximumSize))
            }
            timelines = continued
            return .media(edited)
        }
    }
}

/// The result of an edit.
public enum EditedPlaylist: Sendable {
    /// A multivariant playlist, with the edits of its media playlists.
    case multivariant(EditedPresentation)
    /// A media playlist.
    case media(MediaPlaylist)

    /// The edited playlist, without the edits of its media playlists.
    public var playlist: Playlist {
        switch self {
        case .multivariant(let presentation): .multivariant(presentation.playlist)
        case .media(let playlist): .media(playlist)
        }
    }
}

/// A file of an edited presentation.
public struct EditedFile: Sendable, Hashable {
    /// The name of the file in its folder.
    public let name: String
    /// The contents.
    public let bytes: [UInt8]

    /// Creates a file.
    public init(name: String, bytes: [UInt8]) {
        self.name = name
        self.bytes = bytes
    }
}
