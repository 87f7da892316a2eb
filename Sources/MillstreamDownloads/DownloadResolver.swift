import AssetStorage
import HLSPlaylist
import MediaTiming
import MediaTransport
import ResourceAddressing

/// From an address and a selection to the playlists that have to be kept.
struct DownloadResolver {
    let loading: ResourceLoading
    let selection: DownloadSelection

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
        let (playlist, address) = try await load(source, variables: [:])
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
            let renditions = try await withThrowingTaskGroup { group in
                for (order, choice) in wanted.enumerated() {
                    group.addTask { (order, try await plan(choice, variables: multivariant.variables)) }
                }
                var found: [(Int, PlannedRendition)] = []
                for try await item in group { found.append(item) }
                return found.sorted { $0.0 < $1.0 }.map(\.1)
            }
            return Resolution(playlist: playlist, address: address, renditions: renditions)
        }
    }

    /// An entry that is going to be kept.
    struct Choice: Sendable {
        let role: StoredRendition.Role
        let position: Int
        let language: String?
        let variant: Variant?
        let address: ResourceAddress
    }

    /// What the selection means for a presentation; each playlist once.
    func choose(from playlist: MultivariantPlaylist) throws -> [Choice] {
        let variants = try chooseVariants(from: playlist)
        try checkLanguages(selection.audio, .audio, of: variants, in: playlist)
        try checkLanguages(selection.subtitles, .subtitles, of: variants, in: playlist)
        var choices = variants.map { position in
            Choice(
                role: .variant,
                position: position,
                language: nil,
                variant: playlist.variants[position],
                address: playlist.variants[position].address
            )
        }
        for (position, rendition) in playlist.renditions.enumerated() {
            guard let address = rendition.address, let type = rendition.type,
                let (role, languages) = role(of: type),
                variants.contains(where: { playlist.variants[$0].groupID(type) == rendition.groupID }),
                languages.includes(language: rendition.language, isDefault: rendition.isDefault)
            else { continue }
            // A rendition may share its playlist with a variant: what is kept once is enough.
            choices.append(
                Choice(
                    role: role,
                    position: position,
                    language: rendition.language,
                    variant: nil,
                    address: address
                )
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

    private func plan(_ choice: Choice, variables: [String: String]) async throws -> PlannedRendition {
        let (playlist, address) = try await load(choice.address, variables: variables)
        guard case .media(let media) = playlist else {
            throw DownloadError(.notAPlaylist, "a variant leads to another multivariant playlist", address: address)
        }
        try check(media, at: address)
        return PlannedRendition(
            role: choice.role,
            position: choice.position,
            language: choice.language,
            variant: choice.variant,
            playlist: media,
            address: address
        )
    }

    private func load(
        _ address: ResourceAddress,
        variables: [String: String]
    ) async throws -> (Playlist, ResourceAddress) {
        let loaded: ResourceLoading.Loaded
        do {
            loaded = try await loading.load(TransportRequest(address, kind: .playlist))
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
