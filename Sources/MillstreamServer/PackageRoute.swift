import AssetStorage
import HLSPlaylist
import HTTPTypes
import Hummingbird
import MediaTiming
import MediaTransport
import NIOCore
import PlaylistEditing
import ResourceAddressing
import Synchronization

/// The route of downloaded assets, `/offline`, and the loading of their playlists for the player of the console.
///
/// The catalog and the disk are read on threads that may block. Playlists are parsed and edited by the workers of the server,
/// within its capacity.
final class PackageRoute: Sendable {
    /// The properties that determine the bytes of a stored playlist with other addresses.
    private struct Key: Hashable {
        let address: ResourceAddress
        let changes: AddressChanges
        /// The identifier of an asset whose incomplete variants and renditions are left out; `nil` to leave out none.
        let partialAsset: String?
        let size: Int
        let modificationMilliseconds: Int64
    }

    /// The content at a path of a package.
    private enum Content {
        /// A stored file, which can be out of date if it is a playlist of a recording.
        case file(ContainedFile, state: StoredAsset.State, isRecording: Bool)
        /// The media file of an asset without playlists, at a path.
        case mediaFile(path: String)
        /// A file that is not stored.
        case missing
    }

    private let environment: PlaybackEnvironment
    private let library: AssetLibrary
    /// The marks on the packages that are sent to players.
    private let uses: PackageUses
    private let playlists: PlaylistRoute
    private let files = FileResponder()
    /// The stored playlists with other addresses.
    private let edited = Mutex(RecentlyUsedValues<Key, ByteBuffer>(maximumSize: ByteCount(64 << 20)))
    /// The playlists that are being edited, each once for all clients that wait for it.
    private let editing: SharedWork<Key, ByteBuffer>

    private static let multivariantName = "multivariant.m3u8"

    /// Creates the route.
    ///
    /// - Parameters:
    ///   - environment: The access to origins and the capacity of the server.
    ///   - library: The library with the packages.
    ///   - uses: The marks on the packages that are sent to players.
    ///   - playlists: The route of edited playlists, which knows the address of the server.
    init(_ environment: PlaybackEnvironment, library: AssetLibrary, uses: PackageUses, playlists: PlaylistRoute) {
        self.environment = environment
        self.library = library
        self.uses = uses
        self.playlists = playlists
        editing = SharedWork(maximumCount: max(1, environment.capacity.limits.pendingEdits))
    }

    // MARK: Files

    /// Responds with a file of a package.
    @Sendable func respond(_ request: Request, _ context: ServerRequestContext) async throws -> Response {
        let id = try context.parameters.require("id")
        let path = context.parameters.getCatchAll().joined(separator: "/")
        let name = PercentEncoding.decode(path) ?? path
        let query = QueryItems(request.uri.query)
        let link = LinkParameters(query, source: ResourceAddress(request.uri.path))
        let file: ContainedFile
        let state: StoredAsset.State
        let isRecording: Bool
        switch try await BlockingOperation.run({ [self] in try content(name, of: id) }) {
        case .file(let stored, state: let currentState, isRecording: let isIncomplete):
            file = stored
            state = currentState
            isRecording = isIncomplete
        case .mediaFile(let path):
            // The asset is a media file, which any player plays without a playlist.
            let location = path + (link.map { "?" + QueryItems($0.items).text } ?? "")
            return Response(status: .temporaryRedirect, headers: [.location: location, .cacheControl: "no-cache"])
        case .missing: return try await missing(name, of: id, context)
        }
        let isPlaylist = path.hasSuffix(".m3u8")
        let changes = AddressChanges(
            isAbsolute: isPlaylist && query["absolute"] != nil,
            link: isPlaylist ? link : nil
        )
        let isPartial = path == Self.multivariantName && state == .partial
        let currentBytes = try await isRecording ? currentPlaylist(name, of: id) : nil
        guard changes.isEmpty, !isPartial, currentBytes == nil else {
            let address = ResourceAddress(playlists.base(of: request) + request.uri.path)
            let partialAsset = isPartial ? id : nil
            let bytes = try await playlist(file, currentBytes, at: address, changes, partialAsset: partialAsset)
            let reservation = try environment.capacity.reservation(of: bytes.readableBytes)
            return .playlist(bytes, holding: reservation)
        }
        var response = try files.respond(
            file,
            named: name,
            to: request,
            cacheControl: isPlaylist ? "no-cache" : "private, max-age=3600"
        )
        response.headers[.contentType] = FileResponder.safeMediaType(response.headers[.contentType])
        return response
    }

    /// Returns the content at a path of a package, which is marked as used.
    private func content(_ name: String, of id: String) throws -> Content {
        let asset = try library.outline(of: id)
        uses.mark(id)
        if asset.isMediaFile, [Self.multivariantName, "file"].contains(name), let file = try library.mediaFile(of: id) {
            return .mediaFile(path: file.path)
        }
        if let file = library.openedFile(name, of: id) {
            let isRecording = try asset.state == .partial && name.hasSuffix(".m3u8") && library.isRecording(id)
            return .file(file, state: asset.state, isRecording: isRecording)
        }
        guard asset.state == .complete || asset.hasRenditions else {
            throw ServerError(
                .conflict,
                "asset-incomplete",
                "the playlists of the asset are not stored",
                hint: "start its download again"
            )
        }
        return .missing
    }

    /// Returns a file of a package that is not stored, from the origin; what the download of the asset needs is stored.
    private func missing(_ name: String, of id: String, _ context: ServerRequestContext) async throws -> Response {
        // A client of this server does not resume the body of a response.
        let origin = RecoveringTransport(environment.sources.access(for: context.initiator).loading)
        let package = PackageTransport(library, id: id, origin: origin)
        do {
            let response = try await ClientPresence.whileClientIsConnected {
                try await package.send(TransportRequest(package.address(of: name), kind: .segment))
            }
            return MediaRoutes.forwarded(response, cacheControl: "no-cache")
        } catch let error as TransportError where error.code == .fileNotFound {
            throw ServerError(.notFound, "not-found", "the asset has no \(name)")
        }
    }

    // MARK: Playlists

    /// Returns a playlist of a recording in the form that is up to date; `nil` if the stored file is.
    private func currentPlaylist(_ name: String, of id: String) async throws -> [UInt8]? {
        let budget = try environment.capacity.admit()
        defer { withExtendedLifetime(budget) {} }
        return try await ClientPresence.whileClientIsConnected { [self] in
            try await environment.workers.run { [library] check in
                try check()
                return try library.currentPlaylist(name, of: id)
            }
        }
    }

    /// Returns a stored playlist with other addresses.
    ///
    /// - Parameters:
    ///   - file: The file of the playlist.
    ///   - current: The bytes of the playlist if the file is not up to date; `nil` to use the file.
    ///   - address: The address of the playlist on this server.
    ///   - changes: The changes of its addresses.
    ///   - id: The identifier of an asset whose incomplete variants and renditions are left out; `nil` to leave out none.
    /// - Returns: The bytes of the playlist.
    /// - Throws: ``ServerError`` with 503 if the server has no capacity, and the errors of editing.
    private func playlist(
        _ file: ContainedFile,
        _ current: [UInt8]?,
        at address: ResourceAddress,
        _ changes: AddressChanges,
        partialAsset id: String?
    ) async throws -> ByteBuffer {
        let key = Key(
            address: address,
            changes: changes,
            partialAsset: id,
            size: file.size,
            modificationMilliseconds: file.modificationMilliseconds
        )
        let isStored = id == nil && current == nil
        if isStored, let known = edited.withLock({ $0.use(key) }) { return known }
        let budget = try environment.capacity.admit()
        defer { withExtendedLifetime(budget) {} }
        let limits = environment.capacity.limits.editing
        return try await ClientPresence.whileClientIsConnected { [self] in
            try budget.editing.receive(max(file.size, current?.count ?? 0))
            let edit: @Sendable () async throws -> ByteBuffer = { [self] in
                try await environment.workers.run { [self] check in
                    try check()
                    let complete = try id.flatMap { try library.playlistOfCompleteRenditions(of: $0) }
                    let stored = try complete ?? current ?? file.bytes(at: 0, count: file.size)
                    guard !changes.isEmpty else { return ByteBuffer(bytes: stored) }
                    try check()
                    let playlist = try Self.parse(stored, PlaylistContext(address: address), limits)
                    let bytes = ByteBuffer(bytes: try changes.bytes(of: playlist, limits.result, check: check))
                    if isStored { store(bytes, for: key) }
                    return bytes
                }
            }
            // The playlist of a recording can differ although its file is the same.
            let bytes = try await current == nil ? editing.value(for: key, edit) : edit()
            try budget.reserve(bytes.readableBytes)
            return bytes
        }
    }

    private func store(_ bytes: ByteBuffer, for key: Key) {
        let size = bytes.readableBytes +| key.address.text.utf8.count +| 1_024
        guard size <= edited.withLock({ $0.maximumSize }) / 4 else { return }
        edited.withLock { $0.insert(bytes, size: size, for: key) }
    }

    /// Parses a stored playlist within the limits of one request.
    private static func parse(
        _ bytes: [UInt8],
        _ context: PlaylistContext,
        _ limits: EditLimits
    ) throws -> Playlist {
        let parsed = try Playlist.parseUnlessCanceled(bytes, context: context, limits: limits.loadedPlaylist)
        do throws(PlaylistParsingError) {
            return try parsed.get()
        } catch {
            guard case .limitExceeded = error else { throw error }
            throw ServerError(.contentTooLarge, error.code.rawValue, "the stored playlist: \(error)")
        }
    }

    /// Loads a playlist of a package for the player of the console.
    ///
    /// - Parameters:
    ///   - path: The path of the playlist on this server.
    ///   - query: The query of its address.
    ///   - served: The context in which a multivariant playlist is parsed.
    ///   - context: The context of the request.
    ///   - budget: The budget of the request.
    /// - Returns: The playlist, with the loader of the package.
    /// - Throws: ``ServerError``, and the errors of loading and editing.
    func loadPlaylist(
        at path: String,
        query: String?,
        _ served: PlaylistContext,
        _ context: ServerRequestContext,
        _ budget: RequestBudget
    ) async throws -> LoadedPlaylist {
        let parts = path.split(separator: "/", maxSplits: 2).map { PercentEncoding.decode(String($0)) ?? String($0) }
        guard parts.count == 3 else { throw ServerError(.notFound, "not-found", "the address names no playlist") }
        let (id, name) = (parts[1], parts[2])
        let state = try await BlockingOperation.run { [self] in try usedState(of: id) }
        let origin = RecoveringTransport(environment.sources.access(for: context.initiator).loading)
        let package = PackageTransport(library, id: id, origin: origin)
        let loader = ResourceLoader(package)
        let isPartial = name == Self.multivariantName && state == .partial
        let link = LinkParameters(QueryItems(query), source: ResourceAddress(path))
        let playlist = try await ClientPresence.whileClientIsConnected { [self] in
            if isPartial, let complete = try await completePlaylist(of: id, served, link) { return complete }
            let address = package.address(of: name)
            return try await loadPlaylist(at: address, loader, served, link, budget)
        }
        return LoadedPlaylist(
            playlist: playlist,
            loader: loader,
            package: LoadedPlaylist.Package(id: id, folder: package.address(of: ""))
        )
    }

    /// Returns the state of an asset, whose package is marked as used.
    private func usedState(of id: String) throws -> StoredAsset.State {
        let state = try library.outline(of: id).state
        uses.mark(id)
        return state
    }

    /// Returns the multivariant playlist of a partial asset; `nil` if the stored playlist is to be used unchanged.
    private func completePlaylist(
        of id: String,
        _ served: PlaylistContext,
        _ link: LinkParameters?
    ) async throws -> Playlist? {
        let limits = environment.capacity.limits.editing
        return try await environment.workers.run { [library] check in
            try check()
            guard let bytes = try library.playlistOfCompleteRenditions(of: id) else { return nil }
            return try Self.multivariant(bytes, served, link, limits, check)
        }
    }

    /// Loads a stored playlist.
    ///
    /// - Returns: A media playlist with the addresses of the files of the package, or a multivariant playlist with those of this
    ///   server.
    private func loadPlaylist(
        at address: ResourceAddress,
        _ loader: ResourceLoader,
        _ served: PlaylistContext,
        _ link: LinkParameters?,
        _ budget: RequestBudget
    ) async throws -> Playlist {
        let limits = environment.capacity.limits.editing
        let request = TransportRequest(address, kind: .playlist)
        let bytes = try await loader.load(request, limit: limits.loadedBytes).bytes
        try budget.editing.receive(bytes.count)
        return try await environment.workers.run { check in
            try check()
            let playlist = try Self.parse(bytes, PlaylistContext(address: address), limits)
            guard case .multivariant = playlist else { return playlist }
            return try Self.multivariant(bytes, served, link, limits, check)
        }
    }

    /// Parses a multivariant playlist, whose resources cross a link if there is one.
    private static func multivariant(
        _ bytes: [UInt8],
        _ served: PlaylistContext,
        _ link: LinkParameters?,
        _ limits: EditLimits,
        _ check: () throws -> Void
    ) throws -> Playlist {
        try check()
        let playlist = try parse(bytes, served, limits)
        guard link != nil else { return playlist }
        let changed = try AddressChanges(isAbsolute: false, link: link).bytes(of: playlist, limits.result, check: check)
        return try parse(changed, served, limits)
    }
}

/// The changes of the addresses in a stored playlist that a request asks for.
private struct AddressChanges: Hashable {
    /// A Boolean value that indicates whether the addresses become absolute.
    let isAbsolute: Bool
    /// The link that the resources cross; `nil` for that of all streams.
    let link: LinkParameters?

    /// A Boolean value that indicates whether the playlist stays as it is.
    var isEmpty: Bool { !isAbsolute && link == nil }

    /// Returns the bytes of a playlist with these changes.
    ///
    /// - Parameters:
    ///   - playlist: The playlist.
    ///   - limits: The maximum sizes of the result.
    ///   - check: A closure that is called for each address, and throws when the work is canceled.
    /// - Returns: The bytes.
    /// - Throws: `PlaylistEditError`, and the errors of `check`.
    func bytes(of playlist: Playlist, _ limits: PlaylistLimits, check: () throws -> Void) throws -> [UInt8] {
        let parameters = link.map { "?" + QueryItems($0.items).text }
        return try playlist.bytes(rewritingAddressesUpTo: limits.byteCount) { address in
            try check()
            let text = isAbsolute && address.address.isAbsolute ? address.address.text : nil
            let uri = text ?? address.uri
            guard let parameters, !uri.contains("?") else { return text }
            return uri + parameters
        }
    }
}
