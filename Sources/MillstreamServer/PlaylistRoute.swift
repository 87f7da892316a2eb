import Foundation
import HLSPlaylist
import HTTPTypes
import Hummingbird
import MediaTiming
import MediaTransport
import NIOCore
import PlaylistEditing
import PresentationLoading
import ResourceAddressing

/// The routes of edited playlists, `/play.m3u8`, and of the manifests of simulated channels, `/play.mpd`.
struct PlaylistRoute {
    private let environment: PlaybackEnvironment
    private let trustedProxies: [TrustedProxy]
    private let edited = EditedPlaylistCache()
    /// The playlists of channels with parts for which clients wait.
    private let awaited = SharedWork<EditedPlaylistCache.Key, EditedPlaylistCache.Entry>(maximumCount: 512)
    /// The playlists whose sources have changed, for the clients that waited for these.
    private let changed = SharedWork<ObjectIdentifier, ChangedSources.Edited>(maximumCount: 512)
    /// The manifests that are being written, for all clients that request them at the same time.
    let manifests = SharedWork<EditedPlaylistCache.Key, EditedPlaylistCache.Entry>(maximumCount: 512)
    private let time = SystemTimeSource()
    /// The store of the media properties that manifests of channels contain.
    private let media: TrackMediaStore
    /// The breaks of playlists that pages of other sites request, which are loaded without the credentials of the owner and can
    /// therefore differ.
    private let foreignBreaks = MemoryBreakStore()
    /// The states of redundant variants that are loaded with the credentials of the owner.
    private let trustedVariants: VariantMonitor
    /// The states of redundant variants that are loaded for pages of other sites.
    private let foreignVariants: VariantMonitor

    /// The maximum time for which a client waits for a playlist.
    private static let maximumWait = MediaTime(seconds: 60)

    init(_ environment: PlaybackEnvironment, trustedProxies: [TrustedProxy] = []) {
        self.environment = environment
        self.trustedProxies = trustedProxies
        media = TrackMediaStore(capacity: environment.capacity)
        trustedVariants = VariantMonitor(time: environment.time)
        foreignVariants = VariantMonitor(time: environment.time)
    }

    /// Returns the scheme and host with which the client reached this server.
    func base(of request: Request) -> String { "\(environment.scheme)://\(request.head.authority ?? "localhost")" }

    @Sendable func play(_ request: Request, _ context: ServerRequestContext) async throws -> Response {
        let query = QueryItems(request.uri.query)
        let expiry = environment.playbackSigner == nil ? nil : try AddressExpiry(query)
        let key = EditedPlaylistCache.Key(
            target: PlaybackRequest.meaningfulTarget(request.uri.string),
            authority: request.head.authority ?? "",
            isForeign: context.initiator.isForeign
        )
        let memory = environment.sources.memory(for: context.initiator)
        let known = edited.entry(for: key)
        func offer(_ entry: EditedPlaylistCache.Entry) {
            context.responseOffer?.value = ResponseOffer.Value(
                playlist: entry,
                key: key,
                expiry: expiry,
                initiator: context.initiator
            )
        }
        if let known, known.isFresh(in: memory) {
            environment.metrics.countPlaylist(.fresh)
            ClientPresence.current?.setCacheResult(.playlist(.fresh))
            return try await response(to: request, known, key, offer)
        }
        let isNamedFile = query["url"].map { StreamCatalog.Stream.isMediaFile(ResourceAddress($0)) } ?? false
        if known == nil, isNamedFile, let file = try await mediaFile(query, context, expiry) { return file }
        do {
            guard Self.awaitsPart(query) else {
                let (entry, isStored, source) = try await loadedPlaylist(request, context, key, known, memory)
                ClientPresence.current?.setCacheResult(.playlist(source))
                return try await response(to: request, entry, isStored ? key : nil, offer)
            }
            // All clients that wait for the same part have the same playlist.
            let entry = try await ClientPresence.whileClientIsConnected { [awaited] in
                try await awaited.value(for: key) { try await publishedPlaylist(request, context, key, memory) }
            }
            ClientPresence.current?.setCacheResult(.playlist(.edited))
            return try await response(to: request, entry, key)
        } catch let error as TransportError {
            if error.code == .tooLarge, let file = try await mediaFile(query, context, expiry) { return file }
            environment.metrics.countSourceError(error.code)
            throw error
        } catch let error as ServerError where error.status == .gatewayTimeout {
            environment.metrics.countSourceError(.timedOut)
            throw error
        } catch let error as ServerError where error.code == PlaylistParsingError.Code.notAPlaylist.rawValue {
            guard !isNamedFile, let file = try await mediaFile(query, context, expiry) else { throw error }
            return file
        }
    }

    /// Returns the DASH manifest of a simulated channel.
    @Sendable func playManifest(_ request: Request, _ context: ServerRequestContext) async throws -> Response {
        let key = EditedPlaylistCache.Key(
            target: PlaybackRequest.meaningfulTarget(request.uri.string),
            authority: request.head.authority ?? "",
            isForeign: context.initiator.isForeign
        )
        let memory = environment.sources.memory(for: context.initiator)
        if let known = edited.entry(for: key), known.isFresh(in: memory) {
            environment.metrics.countPlaylist(.fresh)
            ClientPresence.current?.setCacheResult(.playlist(.fresh))
            return try await response(to: request, known, key)
        }
        do {
            // All clients that request the manifest while it is written have the same one.
            let entry = try await ClientPresence.whileClientIsConnected { [manifests] in
                try await manifests.value(for: key) { try await manifestEntry(request, context, key, memory) }
            }
            ClientPresence.current?.setCacheResult(.playlist(.edited))
            return try await response(to: request, entry, key)
        } catch let error as TransportError {
            environment.metrics.countSourceError(error.code)
            throw error
        } catch let error as ServerError where error.status == .gatewayTimeout {
            environment.metrics.countSourceError(.timedOut)
            throw error
        }
    }

    /// Returns the manifest of a simulated channel for the current second, and stores it for later requests.
    private func manifestEntry(
        _ request: Request,
        _ context: ServerRequestContext,
        _ key: EditedPlaylistCache.Key,
        _ memory: ResourceMemory
    ) async throws -> EditedPlaylistCache.Entry {
        let second = UnixSeconds.now
        let budget = try environment.capacity.admit()
        let loading = environment.sources.access(for: context.initiator).loading
        let session = LoadSession(memory: memory, loader: loading, capacity: environment.capacity)
        let loader = OriginPlaylistLoader(
            loader: loading,
            workers: environment.workers,
            presentations: environment.sources.presentations(for: context.initiator),
            session: session
        )
        let handler = ChannelManifestHandler(
            loader: loader,
            resources: loading,
            media: media,
            isForeign: context.initiator.isForeign,
            budget: budget,
            workers: environment.workers,
            // The manifest contains the media playlists of the variants that remain, so they are loaded only once.
            removal: removal(context, budget, loader)
        )
        let bytes = try await handler.manifest(for: playbackRequest(request))
        let entry = EditedPlaylistCache.Entry(
            bytes,
            versions: session.versions,
            second: second,
            contentType: EditedPlaylistCache.Entry.manifestType
        )
        edited.store(entry, for: key)
        environment.metrics.countPlaylist(.edited)
        return entry
    }

    /// Returns the parameters of a request, with media addresses that this server signs.
    private func playbackRequest(_ request: Request) throws -> PlaybackRequest {
        let query = QueryItems(request.uri.query)
        var playback = try PlaybackRequest(query, limits: environment.capacity.limits.editing)
        playback.mediaAddressing = .server(environment.signer)
        if let playbackSigner = environment.playbackSigner {
            // ``PlaybackSignature`` has verified the signature.
            playback.permission = PlaybackPermission(signer: playbackSigner, expiry: try AddressExpiry(query))
        }
        if playback.plan.edits.contains(.absolute) { playback.base = base(of: request) }
        return playback
    }

    /// Returns a redirect to the media file that a request names in place of a playlist; `nil` if the resource is none by its
    /// content.
    private func mediaFile(
        _ query: QueryItems,
        _ context: ServerRequestContext,
        _ expiry: AddressExpiry?
    ) async throws -> Response? {
        guard let source = query["url"].map({ ResourceAddress($0) }), source.isHTTP else { return nil }
        let loader = environment.sources.access(for: context.initiator).loading
        let budget = try environment.capacity.admit()
        let isMediaFile = try await ClientPresence.whileClientIsConnected { try await loader.isMediaFile(at: source) }
        withExtendedLifetime(budget) {}
        let limits = environment.capacity.limits.editing
        guard isMediaFile,
            let file = try SegmentAddress(mediaFileIn: query, limits: limits, expiry: expiry, isKnownFile: true)
        else { return nil }
        return Response(
            status: .found,
            headers: [.location: file.path(signedBy: environment.signer), .cacheControl: "no-cache"]
        )
    }

    /// Returns a Boolean value that indicates whether a client may wait for a part of a simulated channel.
    private static func awaitsPart(_ query: QueryItems) -> Bool {
        query["_HLS_msn"] != nil && query.items.contains { $0.name == "live" && $0.value.contains("part=") }
    }

    /// Returns an edited playlist once it has the position for which clients wait (RFC 8216bis §6.2.5.2).
    ///
    /// It holds no capacity while it waits.
    private func publishedPlaylist(
        _ request: Request,
        _ context: ServerRequestContext,
        _ key: EditedPlaylistCache.Key,
        _ memory: ResourceMemory
    ) async throws -> EditedPlaylistCache.Entry {
        while true {
            do {
                return try await loadedPlaylist(request, context, key, nil, memory).entry
            } catch PlaylistEditError.notPublished(let date) {
                let wait = date.sinceEpoch - ProgramDateTime.current.sinceEpoch
                guard wait <= Self.maximumWait else { throw PlaylistEditError.notPublished(until: date) }
                try await time.waitUnlessShuttingDown(max(.milliseconds(1), wait.duration))
            }
        }
    }

    /// Returns the edited playlist after its sources were requested, whether later requests may have the same one, and whether it
    /// was edited.
    private func loadedPlaylist(
        _ request: Request,
        _ context: ServerRequestContext,
        _ key: EditedPlaylistCache.Key,
        _ known: EditedPlaylistCache.Entry?,
        _ memory: ResourceMemory
    ) async throws -> (entry: EditedPlaylistCache.Entry, isStored: Bool, source: ServerMetrics.PlaylistSource) {
        let presentations = environment.sources.presentations(for: context.initiator)
        let confirmation = ClientPresence.current?.takeConfirmation(for: key)
        if case .changed(let sources) = confirmation {
            // All clients that waited for the sources have the same playlist, which is edited once.
            let result = try await ClientPresence.whileClientIsConnected { [changed] in
                try await sources.playlist(changed) {
                    try await editedEntry(request, context, key, environment.capacity.admit(), sources.session)
                }
            }
            return (result.entry, result.isStored, .edited)
        }
        // A request that another client has begun may have failed because of that client only.
        if case .failed(let error) = confirmation, (error as? ServerError)?.isOfOneClient != true { throw error }
        let budget = try environment.capacity.admit()
        let session = LoadSession(
            memory: memory,
            loader: environment.sources.access(for: context.initiator).loading,
            capacity: environment.capacity
        )
        let isConfirmed = try await ClientPresence.whileClientIsConnected {
            guard let known else { return false }
            return try await session.confirms(known.versions, presentations)
        }
        if isConfirmed, let known {
            environment.metrics.countPlaylist(.validated)
            return (known, true, .validated)
        }
        let result = try await editedEntry(request, context, key, budget, session)
        return (result.entry, result.isStored, .edited)
    }

    /// Returns an edited playlist that was generated from the sources of a session, and whether later requests may have the same one.
    private func editedEntry(
        _ request: Request,
        _ context: ServerRequestContext,
        _ key: EditedPlaylistCache.Key,
        _ budget: RequestBudget,
        _ session: LoadSession
    ) async throws -> (entry: EditedPlaylistCache.Entry, isStored: Bool) {
        let second = UnixSeconds.now
        let (bytes, playback) = try await editedPlaylist(request, context, budget, session: session)
        let plan = playback.plan
        let isAwaited = playback.directives.contains { $0.name == "_HLS_msn" }
        // The availability of redundant variants changes without a new version of the playlist.
        let entry = EditedPlaylistCache.Entry(
            bytes,
            versions: session.versions,
            second: plan.dependsOnDate || playback.redundancy == .available ? second : nil
        )
        // Parts are published several times each second, so that only the response to clients that wait for one is that of others.
        let isStored = plan.channel?.partTarget == nil || isAwaited
        if isStored { edited.store(entry, for: key) }
        environment.metrics.countPlaylist(.edited)
        return (entry, isStored)
    }

    /// Returns the response with an edited playlist, which is compressed when the first client accepts that.
    ///
    /// A playlist that later requests may have is offered for ``RepeatedResponses``.
    private func response(
        to request: Request,
        _ entry: EditedPlaylistCache.Entry,
        _ key: EditedPlaylistCache.Key?,
        _ offer: (EditedPlaylistCache.Entry) -> Void = { _ in }
    ) async throws -> Response {
        guard entry.mayCompress, GzipEncoding.isAccepted(by: request.headers) else {
            if key != nil { offer(entry) }
            return try entry.response(to: request, environment.capacity)
        }
        let compressed = try await environment.workers.run { _ in
            var entry = entry
            entry.compress()
            return entry
        }
        if let key {
            edited.store(compressed, for: key)
            offer(compressed)
        }
        return try compressed.response(to: request, environment.capacity)
    }

    /// Returns the edited playlist for a request, and the parameters of the request.
    private func editedPlaylist(
        _ request: Request,
        _ context: ServerRequestContext,
        _ budget: RequestBudget,
        session: LoadSession
    ) async throws -> (bytes: [UInt8], playback: PlaybackRequest) {
        let playback = try playbackRequest(request)
        let client = ClientNetwork(trustedProxies.client(of: request, context))
        let handler = handler(context, budget, session: session, client: client)
        let bytes = try await ClientPresence.whileClientIsConnected { try await handler.playlist(for: playback) }
        return (bytes, playback)
    }

    /// Returns the handler of a request for a playlist.
    func handler(
        _ context: ServerRequestContext,
        _ budget: RequestBudget,
        session: LoadSession,
        client: ClientNetwork? = nil
    ) -> PlaybackRequestHandler {
        // Signed addresses are those of the owner, whichever page plays them.
        let usesForeignBreaks = context.initiator.isForeign && environment.playbackSigner == nil
        let loading = environment.sources.access(for: context.initiator).loading
        // The response does not depend on the versions of the media playlists of variants.
        let variantLoader = OriginPlaylistLoader(
            loader: loading,
            workers: environment.workers,
            presentations: environment.sources.presentations(for: context.initiator),
            session: LoadSession(
                memory: environment.sources.memory(for: context.initiator),
                loader: loading,
                capacity: environment.capacity
            )
        )
        let verification = StitchVerification(
            loader: variantLoader,
            budget: budget.editing,
            workers: environment.workers,
            time: environment.time
        )
        return PlaybackRequestHandler(
            loader: loading,
            budget: budget,
            workers: environment.workers,
            presentations: environment.sources.presentations(for: context.initiator),
            session: session,
            breaks: usesForeignBreaks ? foreignBreaks : environment.breaks,
            client: client,
            segments: environment.sources.segments(for: context.initiator),
            verification: verification,
            removal: removal(context, budget, variantLoader)
        )
    }

    /// Returns the removal of unavailable redundant variants for a request.
    private func removal(
        _ context: ServerRequestContext,
        _ budget: RequestBudget,
        _ loader: OriginPlaylistLoader
    ) -> RedundantVariantRemoval {
        RedundantVariantRemoval(
            loader: loader,
            budget: budget,
            workers: environment.workers,
            monitor: context.initiator.isForeign ? foreignVariants : trustedVariants
        )
    }
}
