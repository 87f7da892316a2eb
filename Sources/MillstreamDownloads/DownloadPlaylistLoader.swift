import HLSPlaylist
import MediaTiming
import MediaTransport
import NIOCore
import ResourceAddressing
import SegmentFormat

/// A loader of the playlists of a download, which recognizes media files and verifies that the playlists can be downloaded.
struct DownloadPlaylistLoader: Sendable {
    let loader: ResourceLoader
    /// The maximum total size of the playlists of an asset.
    let playlistSize: ByteCount
    /// A Boolean value that indicates whether a cache must not answer without asking the server.
    let bypassesCache: Bool
    /// A Boolean value that indicates whether live playlists are accepted, for a recording.
    let acceptsLive: Bool

    /// The maximum number of playlists that are loaded concurrently.
    static let concurrentLoads = 4

    /// A media playlist with its URL after all redirects.
    struct LoadedPlaylist: Sendable {
        let playlist: MediaPlaylist
        let address: ResourceAddress
        /// The URL with which the next version of the playlist is loaded.
        ///
        /// The fragment of a URL is not part of the response's URL, but it names a playlist of a DASH manifest.
        let reloadAddress: ResourceAddress

        init(_ playlist: MediaPlaylist, requestedAt requested: ResourceAddress, loadedFrom address: ResourceAddress) {
            self.playlist = playlist
            self.address = address
            reloadAddress = requested.fragment == nil ? address : requested
        }
    }

    /// Loads media playlists, each of them once and a few at a time.
    ///
    /// - Parameters:
    ///   - addresses: The URLs of the playlists; duplicates are loaded once.
    ///   - variables: The variables that the playlists can import.
    ///   - used: The size of the playlists that are already loaded.
    /// - Returns: The playlists by the requested URLs, and the size that further playlists may have.
    /// - Throws: ``DownloadError``.
    func loadPlaylists(
        _ addresses: [ResourceAddress],
        variables: [String: String],
        besides used: ByteCount
    ) async throws -> (playlists: [ResourceAddress: LoadedPlaylist], left: ByteCount) {
        var seen: Set<ResourceAddress> = []
        var waiting = addresses.filter { seen.insert($0).inserted }[...]
        var found: [ResourceAddress: LoadedPlaylist] = [:]
        var left = playlistSize - used
        try await withThrowingTaskGroup(of: (ResourceAddress, LoadedPlaylist).self) { group in
            var running = 0
            while running > 0 || !waiting.isEmpty {
                while running < Self.concurrentLoads, let address = waiting.popFirst() {
                    let limit = left
                    group.addTask {
                        (address, try await loadMediaPlaylist(address, variables: variables, limit: limit))
                    }
                    running += 1
                }
                guard let (address, loaded) = try await group.next() else { break }
                running -= 1
                let size = ByteCount(Int64(loaded.playlist.bytes.count))
                // Playlists that were loaded concurrently may exceed the limit together.
                guard size <= left else { throw tooLarge(address) }
                left = left - size
                found[address] = loaded
            }
        }
        return (found, left)
    }

    /// Loads an I-frame playlist; returns `nil` if that fails, because a presentation can be played without it.
    func loadIFrames(
        _ address: ResourceAddress,
        variables: [String: String],
        _ left: inout ByteCount
    ) async throws -> LoadedPlaylist? {
        do {
            let loaded = try await loadMediaPlaylist(address, variables: variables, limit: left)
            left = left - ByteCount(Int64(loaded.playlist.bytes.count))
            return loaded.playlist.isIFramesOnly ? loaded : nil
        } catch is CancellationError {
            throw CancellationError()
        } catch {
            return nil
        }
    }

    private func tooLarge(_ address: ResourceAddress) -> DownloadError {
        DownloadError(
            .tooLarge,
            "the playlists of the stream exceed the size limit of \(playlistSize)",
            hint: "choose fewer variants and languages",
            address: address
        )
    }

    /// Loads the current version of a media playlist of a recording, which may have no segments.
    ///
    /// - Parameters:
    ///   - address: The URL of the playlist.
    ///   - former: The version that was loaded before.
    /// - Returns: The current version.
    /// - Throws: ``DownloadError``, with ``DownloadError/Code/tooLarge`` if the current version exceeds a limit.
    func reload(_ address: ResourceAddress, after former: MediaPlaylist) async throws -> MediaPlaylist {
        let variables = former.context.importableVariables
        let response: (playlist: Playlist, address: ResourceAddress)
        do {
            response = try await load(address, variables: variables, limit: playlistSize)
        } catch let error as DownloadError where error.exceedsPlaylistLimit {
            throw DownloadError(
                .tooLarge,
                "the live playlist has become too large (\(error.message)); the recording is stored up to there",
                address: address,
                cause: error.cause
            )
        }
        guard case .media(let media) = response.playlist else {
            throw DownloadError(
                .notAPlaylist,
                "the URL is no longer that of a media playlist",
                address: response.address
            )
        }
        if !media.segments.isEmpty { try check(media, at: response.address) }
        return media
    }

    private func loadMediaPlaylist(
        _ address: ResourceAddress,
        variables: [String: String],
        limit: ByteCount
    ) async throws -> LoadedPlaylist {
        let (playlist, loaded) = try await load(address, variables: variables, limit: limit)
        guard case .media(let media) = playlist else {
            throw DownloadError(
                .notAPlaylist,
                "a variant or rendition refers to a multivariant playlist instead of a media playlist",
                address: loaded
            )
        }
        try check(media, at: loaded)
        return LoadedPlaylist(media, requestedAt: address, loadedFrom: loaded)
    }

    /// Loads a playlist.
    ///
    /// - Parameters:
    ///   - address: The URL.
    ///   - variables: The variables that the playlist can import.
    ///   - limit: The maximum size.
    /// - Returns: The playlist, and its URL after all redirects.
    /// - Throws: ``DownloadError``.
    func load(
        _ address: ResourceAddress,
        variables: [String: String],
        limit: ByteCount
    ) async throws -> (Playlist, ResourceAddress) {
        switch try await fetch(address, limit: limit) {
        case .document(let document): return try parse(document, requestedAt: address, variables: variables)
        case .mediaFile(let file):
            throw DownloadError(
                .notAPlaylist,
                "\(address): expected a playlist, but this is \(file.container.nameWithArticle)",
                address: address
            )
        }
    }

    /// A resource that is a playlist or another document.
    struct LoadedDocument {
        let bytes: [UInt8]
        let address: ResourceAddress
    }

    /// A resource, recognized by its first bytes.
    enum FetchedResource {
        case document(LoadedDocument)
        case mediaFile(MediaFileSource)
    }

    /// Loads a document, or the beginning of a media file.
    func fetch(_ address: ResourceAddress, limit: ByteCount) async throws -> FetchedResource {
        let headers = bypassesCache ? [HeaderField("Cache-Control", "no-cache")] : []
        let request = TransportRequest(address, kind: .playlist, headers: headers)
        let maximum = min(limit, ResourceLoader.defaultSizeLimit)
        func verify(_ count: Int64, _ response: TransportResponse) throws {
            guard count > maximum.bytes else { return }
            throw TransportError(
                .tooLarge,
                "the resource exceeds the maximum size of \(maximum)",
                address: response.address
            )
        }
        do {
            return try await loader.send(request) { response in
                var bytes: [UInt8] = []
                var isDocument = false
                for try await buffer in response.body {
                    bytes.append(contentsOf: buffer.readableBytesView)
                    if !isDocument, bytes.count >= MediaFileSource.headSize {
                        if let file = MediaFileSource(bytes, response, isWhole: false) { return .mediaFile(file) }
                        isDocument = true
                        // An array that grows doubles its capacity.
                        bytes.reserveCapacity(Int(clamping: min(response.expectedLength ?? 0, maximum.bytes)))
                    }
                    if isDocument { try verify(max(Int64(bytes.count), response.expectedLength ?? 0), response) }
                }
                if !isDocument, let file = MediaFileSource(bytes, response, isWhole: true) { return .mediaFile(file) }
                try verify(Int64(bytes.count), response)
                return .document(LoadedDocument(bytes: Self.compacted(bytes), address: response.address))
            }
        } catch let error as TransportError where error.code == .tooLarge && limit < playlistSize {
            throw tooLarge(address)
        } catch let error as TransportError {
            throw DownloadError(error)
        }
    }

    /// Returns bytes without the unused capacity of their array, which would be occupied as long as the playlist is used.
    private static func compacted(_ bytes: [UInt8]) -> [UInt8] {
        guard bytes.capacity - bytes.count > MediaFileSource.headSize else { return bytes }
        var result: [UInt8] = []
        result.reserveCapacity(bytes.count)
        result.append(contentsOf: bytes)
        return result
    }

    /// Parses a document as a playlist.
    func parse(
        _ document: LoadedDocument,
        requestedAt address: ResourceAddress,
        variables: [String: String]
    ) throws -> (Playlist, ResourceAddress) {
        do {
            var context = PlaylistContext(address: document.address, importableVariables: variables)
            // An edit can insert local playlists, so that this one is verified before.
            context.mayNameFiles = true
            let playlist = try Playlist.parseUnlessCanceled(document.bytes, context: context).get()
            try playlist.checkHeader()
            switch playlist {
            case .media(let media): try media.checkImports()
            case .multivariant(let multivariant): try multivariant.checkParameters()
            }
            try checkFiles(of: playlist, at: document.address)
            return (playlist, document.address)
        } catch let error as PlaylistParsingError {
            throw DownloadError(
                .notAPlaylist,
                "\(address): \(error)",
                hint: Self.hint(for: error),
                address: address,
                detail: [.undeclaredImport, .missingQueryParameter].contains(error.code) ? error.code.rawValue : nil,
                cause: error
            )
        }
    }

    private static func hint(for error: PlaylistParsingError) -> String? {
        switch error.code {
        case .dashManifest: "the DASH bridge, which translates manifests, is turned off"
        case .undeclaredImport: "name the multivariant playlist of the stream, which must define the variable"
        case .missingQueryParameter: error.hint
        case .notAPlaylist, .unexpectedKind, .limitExceeded: nil
        }
    }

    /// Verifies that a remote playlist refers to no local file: a local playlist or edit can lead to it, so that files can be read.
    private func checkFiles(of playlist: Playlist, at address: ResourceAddress) throws {
        guard let reason = playlist.refusalReason else { return }
        throw DownloadError(.notAPlaylist, reason, address: address)
    }

    /// Verifies that a media playlist can be downloaded.
    func check(_ playlist: MediaPlaylist, at address: ResourceAddress) throws {
        guard acceptsLive || !playlist.isLive else {
            throw DownloadError(
                .live,
                "a live stream cannot be downloaded: its playlist has no EXT-X-ENDLIST",
                hint: "record it, for example with millstream record, or try again after it has ended",
                address: address
            )
        }
        guard !playlist.segments.isEmpty else {
            if playlist.isLive {
                throw DownloadError(
                    .notAPlaylist,
                    "the stream has not begun: its playlist has no segments",
                    hint: "wait for it, for example with millstream record --wait",
                    address: address,
                    detail: DownloadError.notBegun
                )
            }
            throw DownloadError(.notAPlaylist, "the playlist has no segments", address: address)
        }
        for segment in playlist.segments where !segment.isGap {
            let keys = segment.keys + (segment.map?.keys ?? [])
            if !keys.isEmpty, !keys.contains(where: \.isIdentity) {
                let systems = Set(keys.map(\.keyFormat)).sorted().joined(separator: ", ")
                throw DownloadError(
                    .contentProtected,
                    "the content is protected with \(systems), which is not supported",
                    address: address
                )
            }
        }
    }
}

extension DownloadError {
    /// A Boolean value that indicates whether a playlist is larger than it may be, in bytes, entries or the length of a line.
    fileprivate var exceedsPlaylistLimit: Bool {
        if let error = cause as? TransportError { return error.code == .tooLarge }
        return (cause as? PlaylistParsingError)?.code == .limitExceeded
    }
}
