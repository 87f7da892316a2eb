import HLSPlaylist
import HTTPTypes
import MediaTiming
import MediaTransport
import PlaylistEditing
import ReportFormat
import ResourceAddressing

/// The parameters of a playback address such as `/play.m3u8?url=…&bandwidth=…`.
struct PlaybackRequest {
    /// The ways in which a player receives segments.
    enum SegmentDelivery: String {
        /// The server redirects to the origin.
        case redirect
        /// The server loads the segment and forwards it.
        case proxy
    }

    /// The kinds of addresses of segments and keys in an edited playlist.
    enum MediaAddressing {
        /// The addresses at the origin.
        case origin
        /// Signed addresses of this server.
        case server(SegmentSigner)
    }

    let source: ResourceAddress
    let plan: EditPlan
    let delivery: SegmentDelivery
    /// The variables of the multivariant playlist that refers to this one, unless they are too long for an address.
    let variables: [String: String]
    /// The multivariant playlist that refers to this one, if its variables are too long for an address; they are loaded
    /// from it if this playlist imports any.
    var parent: ResourceAddress?
    /// The conditions of the network and the link that all resources of the stream share; `nil` for none.
    let link: LinkParameters?
    /// The delivery directives of the player for a live origin, such as a blocking reload or a delta update (RFC
    /// 8216bis §6.2.5).
    let directives: [QueryItems.Item]
    /// The prefix of the addresses of child playlists: empty, or the scheme and host of this server for a playlist that
    /// is used elsewhere.
    var base = ""
    /// The kind of addresses of segments and keys.
    var mediaAddressing = MediaAddressing.origin

    /// The maximum number of bytes of variables in the address of a child playlist.
    ///
    /// The variables are repeated in the address of every child, and few children need them.
    private static let maximumVariableBytes = 512

    init(
        source: ResourceAddress,
        plan: EditPlan,
        delivery: SegmentDelivery,
        variables: [String: String],
        link: LinkParameters? = nil,
        directives: [QueryItems.Item] = []
    ) {
        self.source = source
        self.plan = plan
        self.link = link
        // A redirected segment would bypass the link, so segments are proxied.
        self.delivery = link == nil ? delivery : .proxy
        self.variables = variables
        self.directives = directives
    }

    /// The address from which the playlist is loaded: the source with the delivery directives of the player.
    var address: ResourceAddress {
        guard !directives.isEmpty else { return source }
        let mark = source.query == nil ? "?" : "&"
        return ResourceAddress(source.text + mark + QueryItems(directives).text)
    }

    /// Creates a request from a query.
    ///
    /// - Parameters:
    ///   - query: The query of an address.
    ///   - allowsFiles: A Boolean value that indicates whether the source may be a file; must be `false` for requests
    ///     of clients.
    ///   - limits: The maximum number of edits and of the playlists that they insert.
    /// - Throws: ``ServerError``, `PlaylistEditError`.
    init(_ query: QueryItems, allowsFiles: Bool = false, limits: ServerLimits = ServerLimits()) throws {
        var source: ResourceAddress?
        var edits: [PlaylistEdit] = []
        var delivery = SegmentDelivery.redirect
        var variables: [String: String] = [:]
        var directives: [QueryItems.Item] = []
        var parent: ResourceAddress?
        for item in query.items {
            switch item.name {
            case let name where name.hasPrefix("_HLS_"): directives.append(item)
            case "conditions", "link": continue
            case "url": source = ResourceAddress(item.value)
            case "segments":
                guard let value = SegmentDelivery(rawValue: item.value) else {
                    throw ServerError(.badRequest, "invalid-value", "segments must be redirect or proxy")
                }
                delivery = value
            case "parent": parent = ResourceAddress(item.value)
            case "define":
                let parts = item.value.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
                if parts.count == 2 { variables[String(parts[0])] = String(parts[1]) }
            case let name where PlaylistEdit.names.contains(name):
                edits.append(try PlaylistEdit(name: name, value: item.value))
            default:
                throw ServerError(
                    .badRequest,
                    "unknown-edit",
                    "there is no edit named \(item.name)",
                    hint: "an address that contains & must be percent-encoded: url=https%3A%2F%2F…"
                )
            }
        }
        guard let source, source.isHTTP || allowsFiles else {
            throw ServerError(.badRequest, "missing-url", "url must be an http or https address")
        }
        guard parent?.isHTTP ?? true || allowsFiles else {
            throw ServerError(.badRequest, "invalid-value", "parent must be an http or https address")
        }
        guard edits.count <= limits.edits else {
            throw ServerError(.badRequest, "too-many-edits", "an address may have at most \(limits.edits) edits")
        }
        guard Set(edits.compactMap(\.source)).count <= limits.sources else {
            throw ServerError(
                .badRequest,
                "too-many-sources",
                "the edits of an address may insert at most \(limits.sources) playlists"
            )
        }
        self.init(
            source: source,
            plan: EditPlan(edits),
            delivery: delivery,
            variables: variables,
            link: try LinkParameters(query, source: source),
            directives: directives
        )
        self.parent = parent
    }

    /// The request as an address of this server.
    var path: String {
        var items = [QueryItems.Item(name: "url", value: source.text)]
        items += plan.edits.map { QueryItems.Item(name: $0.nameAndValue.name, value: $0.nameAndValue.value) }
        items += link?.items ?? (delivery == .proxy ? [QueryItems.Item(name: "segments", value: "proxy")] : [])
        items += variables.sorted { $0.key < $1.key }.map {
            QueryItems.Item(name: "define", value: "\($0.key)=\($0.value)")
        }
        if let parent { items.append(QueryItems.Item(name: "parent", value: parent.text)) }
        return base + "/play.m3u8?" + QueryItems(items).text
    }

    /// Returns the request for another playlist of the same presentation, with the inherited settings of this request.
    func sibling(_ source: ResourceAddress, _ plan: EditPlan) -> PlaybackRequest {
        var sibling = PlaybackRequest(source: source, plan: plan, delivery: delivery, variables: variables, link: link)
        sibling.base = base
        sibling.mediaAddressing = mediaAddressing
        sibling.parent = parent
        return sibling
    }

    /// Returns the request from which those of all child playlists are derived with ``sibling(_:_:)``.
    func inheritance(_ variables: [String: String]) -> PlaybackRequest {
        let size = variables.reduce(0) { $0 + $1.key.utf8.count + $1.value.utf8.count }
        let isShort = size <= Self.maximumVariableBytes
        var first = PlaybackRequest(
            source: source,
            plan: plan,
            delivery: delivery,
            variables: isShort ? variables : [:],
            link: link
        )
        first.base = base
        first.mediaAddressing = mediaAddressing
        first.parent = isShort ? nil : source
        return first
    }
}

/// An editor that loads a source, edits it, and rewrites its addresses to this server so that child playlists are
/// edited too.
struct PlaylistEditor {
    private let loader: ResourceLoader
    private let budget: RequestBudget
    private let workers: EditWorkers

    /// Creates the editor for one request.
    ///
    /// - Parameters:
    ///   - loader: The loading of sources.
    ///   - budget: The budget of the request, against which loaded and generated bytes are counted.
    ///   - workers: The executor for parsing and editing.
    init(loader: ResourceLoader, budget: RequestBudget, workers: EditWorkers) {
        self.loader = loader.wrappingTransport { BudgetedTransport(base: $0, budget: budget) }
        self.budget = budget
        self.workers = workers
    }

    /// Returns the edited playlist.
    ///
    /// - Throws: ``ServerError``, `PlaylistEditError`, `TransportError`; `CancellationError` once the task is
    ///   cancelled.
    func playlist(for request: PlaybackRequest) async throws -> [UInt8] {
        let source = try await loadWithVariables(request)
        switch source {
        case .multivariant(let playlist):
            var sources: [String: Playlist] = [:]
            for name in request.plan.sources where sources[name] == nil {
                sources[name] = try await load(ResourceAddress(name))
            }
            let gaps = try await gaps(of: sources, for: playlist)
            return try await edit { [sources] check, limits in
                let edited = try request.plan.applied(to: playlist, sources: sources, limits: limits)
                try check()
                return try Self.rewritingAddresses(
                    of: edited,
                    request: request,
                    sources: sources,
                    gaps: gaps,
                    limits: limits,
                    check: check
                )
            }
        case .media(let playlist):
            var sources: [String: MediaPlaylist] = [:]
            for name in request.plan.sources where sources[name] == nil && GapPlaylist.playlist(at: name) == nil {
                sources[name] = try await mediaPlaylist(at: name)
            }
            return try await edit { [sources] check, limits in
                var edited = playlist
                for edit in request.plan.edits {
                    try check()
                    edited = try EditPlan([edit]).applied(to: edited, sources: sources, limits: limits)
                }
                return try Self.rewritingAddresses(of: edited, request: request, limits: limits, check: check)
            }
        }
    }

    /// Returns the report of a playlist as JSON.
    func report(of address: ResourceAddress) async throws -> [UInt8] {
        let playlist = try await load(address)
        return try await edit { check, limits in
            let report = playlist.report
            try check()
            do throws(ReportLimitError) {
                return try report.json(limit: limits.byteCount)
            } catch {
                throw ServerError(.contentTooLarge, "report-too-large", error.description)
            }
        }
    }

    /// Generates a response on a worker thread, and reserves capacity for it.
    private func edit(
        _ work: @escaping @Sendable (_ check: () throws -> Void, PlaylistLimits) throws -> [UInt8]
    ) async throws -> [UInt8] {
        let limits = budget.playlistLimits(isResponse: true)
        let bytes = try await workers.run { check in try work(check, limits) }
        try budget.reserve(bytes.count)
        return bytes
    }

    // MARK: Loading

    private func load(_ address: ResourceAddress, variables: [String: String] = [:]) async throws -> Playlist {
        try await parse(try await bytes(at: address), from: address, variables: variables)
    }

    private func bytes(at address: ResourceAddress) async throws -> ResourceLoader.Loaded {
        try await loader.load(TransportRequest(address, kind: .playlist), limit: budget.limits.playlistBytes)
    }

    private func parse(
        _ loaded: ResourceLoader.Loaded,
        from address: ResourceAddress,
        variables: [String: String]
    ) async throws -> Playlist {
        let limits = budget.playlistLimits(isResponse: false)
        let context = PlaylistContext(address: loaded.address, importableVariables: variables)
        do {
            return try await workers.run { _ in try Playlist.parse(loaded.bytes, context: context, limits: limits) }
        } catch let error as PlaylistParsingError {
            // A DASH manifest, a movie or a transport stream is valid but not supported here; all else is an error of
            // the origin.
            switch error {
            case .notAPlaylist(.dashManifest), .notAPlaylist(.mp4), .notAPlaylist(.transportStream):
                throw ServerError(.unsupportedMediaType, error.code.rawValue, "\(address): \(error)")
            case .limitExceeded:
                throw ServerError(.contentTooLarge, error.code.rawValue, "\(address): \(error)")
            case .notAPlaylist, .unexpectedKind:
                throw ServerError(.badGateway, error.code.rawValue, "\(address): \(error)")
            }
        }
    }

    /// Returns the source of a request, parsed with the variables that it imports.
    private func loadWithVariables(_ request: PlaybackRequest) async throws -> Playlist {
        let loaded = try await bytes(at: request.address)
        let playlist = try await parse(loaded, from: request.address, variables: request.variables)
        guard let parent = request.parent else { return playlist }
        let names = playlist.importedVariableNames
        guard !names.isEmpty else { return playlist }
        guard case .multivariant(let multivariant) = try await load(parent) else {
            throw ServerError(.badGateway, "unexpected-playlist-kind", "\(parent) is not a multivariant playlist")
        }
        let variables = multivariant.variables.filter { names.contains($0.key) }
        return try await parse(loaded, from: request.address, variables: variables)
    }

    /// Returns the media playlist at an address; for a multivariant playlist, that of the variant with the lowest bit
    /// rate.
    private func mediaPlaylist(at name: String) async throws -> MediaPlaylist {
        try await mediaPlaylist(of: try await load(ResourceAddress(name)), name)
    }

    private func mediaPlaylist(of playlist: Playlist, _ name: String) async throws -> MediaPlaylist {
        switch playlist {
        case .media(let playlist): return playlist
        case .multivariant(let playlist):
            guard let variant = StitchMatching(playlist).lowestBitRateVariant,
                case .media(let media) = try await load(variant, variables: playlist.variables)
            else { throw PlaylistEditError.cannotStitch(reason: "\(ResourceAddress(name)) has no variants") }
            return media
        }
    }

    /// Returns the addresses of gap playlists for renditions without a match, by the name of the source whose duration
    /// they have.
    private func gaps(
        of sources: [String: Playlist],
        for playlist: MultivariantPlaylist
    ) async throws -> [String: String] {
        guard playlist.renditions.contains(where: { $0.type == .subtitles }) else { return [:] }
        var gaps: [String: String] = [:]
        for (name, source) in sources {
            gaps[name] = try GapPlaylist.address(of: try await mediaPlaylist(of: source, name).duration)
        }
        return gaps
    }

    // MARK: Addresses

    private static func rewritingAddresses(
        of playlist: MultivariantPlaylist,
        request: PlaybackRequest,
        sources: [String: Playlist],
        gaps: [String: String],
        limits: PlaylistLimits,
        check: () throws -> Void
    ) throws -> [UInt8] {
        let plans = request.plan.childPlans(sources: sources, gaps: gaps)
        let inheritance = request.inheritance(playlist.variables)
        var children: [String: EditPlan] = [:]
        func child(_ entry: PresentationEntry) throws {
            guard entry.address != nil else { return }
            try check()
            children[Self.key(entry)] = try plans.plan(for: entry)
        }
        for variant in playlist.variants + playlist.iFrameVariants { try child(.variant(variant)) }
        for rendition in playlist.renditions { try child(.rendition(rendition)) }
        return try Playlist.multivariant(playlist).bytes(rewritingAddressesUpTo: limits.byteCount) { address in
            try check()
            let key: String
            switch address.role {
            case .variant: key = "variant " + address.uri
            case .iFrameVariant: key = "iframes " + address.uri
            case .rendition(let type): key = "rendition \(type?.rawValue ?? "") " + address.uri
            case .key: return segmentPath(address.address, request)
            case .segment, .part, .initialization, .renditionReport, .session, .interstitial:
                return address.address.text
            }
            guard let plan = children[key] else {
                throw PlaylistEditError.unreadableResult(
                    edit: "the address \(address.uri)",
                    reason: "the entry cannot be edited"
                )
            }
            return inheritance.sibling(address.address, plan).path
        }
    }

    private static func key(_ entry: PresentationEntry) -> String {
        switch entry {
        case .variant(let variant): (variant.isIFramesOnly ? "iframes " : "variant ") + variant.uri
        case .rendition(let rendition): "rendition \(rendition.type?.rawValue ?? "") \(rendition.uri ?? "")"
        }
    }

    private static func rewritingAddresses(
        of playlist: MediaPlaylist,
        request: PlaybackRequest,
        limits: PlaylistLimits,
        check: () throws -> Void
    ) throws -> [UInt8] {
        try Playlist.media(playlist).bytes(rewritingAddressesUpTo: limits.byteCount) { address in
            try check()
            return switch address.role {
            case .segment, .part, .initialization, .key: segmentPath(address.address, request)
            case .renditionReport: request.sibling(address.address, request.plan).path
            case .variant, .iFrameVariant, .rendition, .session, .interstitial:
                address.address.isAbsolute ? address.address.text : nil
            }
        }
    }

    /// Returns the address of a segment or a key in the edited playlist; `nil` to leave it unchanged.
    private static func segmentPath(_ address: ResourceAddress, _ request: PlaybackRequest) -> String? {
        guard case .server(let signer) = request.mediaAddressing else { return address.text }
        guard address.isHTTP else { return address.isAbsolute ? address.text : nil }
        let segment = SegmentAddress(address, delivery: request.delivery, link: request.link)
        return request.base + segment.path(signedBy: signer)
    }
}
