import AssetStorage
import HLSPlaylist
import MediaTiming
import MediaTransport
import ResourceAddressing

/// From an address and a selection to the playlists that have to be kept.
struct DownloadResolver {
    let loading: ResourceLoading
    let selection: DownloadSelection
    /// The upper bound on the playlists of one asset together.
    var playlistSize = DownloadLimits().playlistSize

    /// The number of playlists that are loaded at once.
    static let concurrentLoads = 4

    /// What was found.
    struct Resolution {
        let playlist: Playlist
        let address: ResourceAddress
        let renditions: [PlannedRendition]
    }

    /// Loads the source and the media playlists that the selection needs.
    ///
    /// - Throws: ``DownloadError``; for a live stream before anything but playlists was loaded.
    func resolve(_ source: ResourceAddress) async throws -> Resolution {
        let (playlist, address) = try await load(source, variables: [:], limit: playlistSize)
        switch playlist {
        case .media(let media):
            try check(media, at: address)
            let rendition = PlannedRendition(
                role: .variant,
                position: -1,
                language: nil,
                variant: nil,
                playlist: media,
                address: address
            )
            return Resolution(playlist: playlist, address: address, renditions: [rendition])
        case .multivariant(let multivariant):
            let wanted = try choose(from: multivariant)
            let loaded = try await loadPlaylists(
                wanted.map(\.address),
                variables: multivariant.variables,
                besides: ByteCount(Int64(playlist.bytes.count))
            )
            let renditions = wanted.compactMap { choice in
                loaded[choice.address].map { loaded in
                    PlannedRendition(
                        role: choice.role,
                        position: choice.position,
                        language: choice.language,
                        variant: choice.variant,
                        playlist: loaded.playlist,
                        address: loaded.address,
                        aliases: choice.aliases
                    )
                }
            }
            return Resolution(playlist: playlist, address: address, renditions: renditions)
        }
    }

    /// A media playlist, and where it was found.
    private struct LoadedPlaylist: Sendable {
        let playlist: MediaPlaylist
        let address: ResourceAddress
    }

    /// Loads media playlists, each once, a few at a time.
    ///
    /// - Parameters:
    ///   - addresses: Where they are; an address may be there several times.
    ///   - variables: The variables that they may import.
    ///   - used: The size of the playlists that were loaded before.
    /// - Returns: The playlists by the addresses that were asked for.
    /// - Throws: ``DownloadError``.
    private func loadPlaylists(
        _ addresses: [ResourceAddress],
        variables: [String: String],
        besides used: ByteCount
    ) async throws -> [ResourceAddress: LoadedPlaylist] {
        var seen: Set<ResourceAddress> = []
        var waiting = addresses.filter { seen.insert($0).inserted }[...]
        var found: [ResourceAddress: LoadedPlaylist] = [:]
        var left = playlistSize - used
        try await withThrowingTaskGroup(of: (ResourceAddress, LoadedPlaylist).self) { group in
            var running = 0
            while running > 0 || !waiting.isEmpty {
                while running < Self.concurrentLoads, let address = waiting.popFirst() {
                    let limit = left
                    group.addTask { (address, try await plan(address, variables: variables, limit: limit)) }
                    running += 1
                }
                guard let (address, loaded) = try await group.next() else { break }
                running -= 1
                let size = ByteCount(Int64(loaded.playlist.bytes.count))
                // Those that came at once may together be more.
                guard size <= left else { throw tooLarge(address) }
                left = left - size
                found[address] = loaded
            }
        }
        return found
    }

    private func tooLarge(_ address: ResourceAddress) -> DownloadError {
        DownloadError(
            .tooLarge,
            "the playlists of the stream are larger than \(playlistSize), which is what they may have",
            hint: "choose fewer variants and languages",
            address: address
        )
    }

    /// An entry that is going to be downloaded.
    struct Choice: Sendable {
        let role: StoredRendition.Role
        let position: Int
        /// Further positions of the same kind with the same playlist.
        var aliases: [Int] = []
        let language: String?
        let variant: Variant?
        let address: ResourceAddress
    }

    /// What the selection means for a presentation; each playlist once.
    func choose(from playlist: MultivariantPlaylist) throws -> [Choice] {
        let variants = try chooseVariants(from: playlist)
        try checkLanguages(selection.audio, .audio, of: variants, in: playlist)
        try checkLanguages(selection.subtitles, .subtitles, of: variants, in: playlist)
        var choices: [Choice] = []
        // Entries of one kind and language that have one playlist are stored once.
        var known: [String: Int] = [:]
        func add(_ choice: Choice) {
            let name = [choice.role.rawValue, choice.language ?? "", choice.address.text].joined(separator: "\n")
            if let index = known[name] {
                choices[index].aliases.append(choice.position)
            } else {
                known[name] = choices.count
                choices.append(choice)
            }
        }
        for position in variants {
            let variant = playlist.variants[position]
            add(
                Choice(role: .variant, position: position, language: nil, variant: variant, address: variant.address)
            )
        }
        var groups: [Rendition.MediaType: Set<String>] = [:]
        for type in Rendition.MediaType.allCases {
            groups[type] = Set(variants.compactMap { playlist.variants[$0].groupID(type) })
        }
        for (position, rendition) in playlist.renditions.enumerated() {
            guard let address = rendition.address, let type = rendition.type,
                let (role, languages) = role(of: type),
                groups[type]?.contains(rendition.groupID) == true,
                languages.includes(language: rendition.language, isDefault: rendition.isDefault)
            else { continue }
            add(
                Choice(role: role, position: position, language: rendition.language, variant: nil, address: address)
            )
        }
        return choices
    }

    /// A language that is not there is refused: who asks for Welsh must not find out on the train that there is no sound.
    private func checkLanguages(
        _ languages: DownloadSelection.Languages,
        _ type: Rendition.MediaType,
        of variants: [Int],
        in playlist: MultivariantPlaylist
    ) throws {
        guard case .some(let wanted) = languages else { return }
        let groups = Set(variants.compactMap { playlist.variants[$0].groupID(type) })
        let offered = playlist.renditions.filter { $0.type == type && groups.contains($0.groupID) }
        let missing = wanted.filter { language in
            let one = DownloadSelection.Languages.some([language])
            return !offered.contains { one.includes(language: $0.language, isDefault: $0.isDefault) }
        }
        guard !missing.isEmpty else { return }
        var seen: Set<String> = []
        let names = offered.map { $0.language ?? $0.name }.filter { seen.insert($0).inserted }
        throw DownloadError(
            .nothingSelected,
            "there \(type == .audio ? "is no sound" : "are no subtitles") in "
                + missing.joined(separator: ", "),
            hint: names.isEmpty
                ? "the stream has none \(type == .audio ? "apart from its video" : "at all")"
                : "there is \(names.joined(separator: ", "))"
        )
    }

    private func role(of type: Rendition.MediaType) -> (StoredRendition.Role, DownloadSelection.Languages)? {
        switch type {
        case .audio: (.audio, selection.audio)
        case .subtitles: (.subtitles, selection.subtitles)
        case .video: (.video, .all)
        case .closedCaptions: nil
        }
    }

    private func chooseVariants(from playlist: MultivariantPlaylist) throws -> [Int] {
        let all = playlist.variants
        let ordered = all.indices.sorted { first, second in
            let rates = (all[first].bandwidth?.bitsPerSecond ?? 0, all[second].bandwidth?.bitsPerSecond ?? 0)
            return rates.0 < rates.1
        }
        guard let lowest = ordered.first, let highest = ordered.last else {
            throw DownloadError(.nothingSelected, "the playlist has no variants")
        }
        switch selection.variants {
        case .all: return Array(all.indices)
        case .best: return [highest]
        case .lowest: return [lowest]
        case .minimumBandwidth(let rate):
            return [ordered.first { all[$0].bandwidth.map { $0 >= rate } ?? false } ?? highest]
        case .maximumHeight(let height):
            guard let best = ordered.last(where: { (all[$0].resolution?.height ?? 0) <= height }) else {
                let heights = all.compactMap { $0.resolution?.description }.joined(separator: ", ")
                throw DownloadError(
                    .nothingSelected,
                    "no variant is at most \(height) pixels high",
                    hint: "there are \(heights)"
                )
            }
            return [best]
        }
    }

    private func plan(
        _ address: ResourceAddress,
        variables: [String: String],
        limit: ByteCount
    ) async throws -> LoadedPlaylist {
        let (playlist, address) = try await load(address, variables: variables, limit: limit)
        guard case .media(let media) = playlist else {
            throw DownloadError(.notAPlaylist, "a variant leads to another multivariant playlist", address: address)
        }
        try check(media, at: address)
        return LoadedPlaylist(playlist: media, address: address)
    }

    private func load(
        _ address: ResourceAddress,
        variables: [String: String],
        limit: ByteCount
    ) async throws -> (Playlist, ResourceAddress) {
        let loaded: ResourceLoading.Loaded
        do {
            loaded = try await loading.load(
                TransportRequest(address, kind: .playlist),
                limit: min(limit, ResourceLoading.playlistLimit)
            )
        } catch let error as TransportError where error.code == .tooLarge && limit < playlistSize {
            throw tooLarge(address)
        } catch let error as TransportError {
            throw DownloadError(error)
        }
        do {
            let context = PlaylistContext(address: loaded.address, importableVariables: variables)
            return (try Playlist.parse(loaded.bytes, context: context), loaded.address)
        } catch {
            throw DownloadError(
                .notAPlaylist,
                "\(address): \(error)",
                address: address
            )
        }
    }

    /// Whether a media playlist can be kept at all.
    private func check(_ playlist: MediaPlaylist, at address: ResourceAddress) throws {
        guard !playlist.isLive else {
            throw DownloadError(
                .live,
                "a live stream cannot be kept while it runs: its playlist has no EXT-X-ENDLIST",
                hint: "try again when it has ended",
                address: address
            )
        }
        guard !playlist.segments.isEmpty else {
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
