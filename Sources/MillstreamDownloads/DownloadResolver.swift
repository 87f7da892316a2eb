import AssetStorage
import HLSPlaylist
import MediaTiming
import MediaTransport
import PlaylistEditing
import ResourceAddressing

/// A resolver that loads the playlists of a source and applies the selection of the download.
struct DownloadResolver: Sendable {
    let loader: ResourceLoader
    let selection: DownloadSelection
    /// The maximum total size of the playlists of an asset.
    var playlistSize = DownloadLimits().playlistSize
    /// A function that returns whether a codec (RFC 6381) can be decoded.
    var canDecode: @Sendable (_ codec: String) -> Bool = { _ in true }
    /// A Boolean value that indicates whether a cache must not answer without asking the server.
    var bypassesCache = false
    /// A Boolean value that indicates whether live playlists are accepted, for a recording.
    var acceptsLive = false

    /// The loader of the playlists.
    var playlists: DownloadPlaylistLoader {
        DownloadPlaylistLoader(
            loader: loader,
            playlistSize: playlistSize,
            bypassesCache: bypassesCache,
            acceptsLive: acceptsLive
        )
    }

    /// The result of a resolution.
    struct Resolution {
        let playlist: Playlist
        let address: ResourceAddress
        let renditions: [PlannedRendition]
        /// The title that a media file contains; `nil` for a stream, and for a file without one.
        var title: String?
        /// The artwork that a media file contains; `nil` for a stream, and for a file without one that can be stored.
        var artwork: AssetArtwork?
    }

    /// Loads the source and the media playlists that the selection requires.
    ///
    /// - Parameters:
    ///   - source: The URL of the source playlist.
    ///   - entries: A closure that returns the variants and renditions to download; `nil` for those of the selection.
    /// - Returns: The playlists.
    /// - Throws: ``DownloadError``. A live stream fails before anything other than playlists is loaded.
    func resolve(
        _ source: ResourceAddress,
        entries: ((MultivariantPlaylist) -> [Choice])? = nil
    ) async throws -> Resolution {
        let document: DownloadPlaylistLoader.LoadedDocument
        switch try await playlists.fetch(source, limit: playlistSize) {
        case .mediaFile(let file): return try await resolution(of: file)
        case .document(let loaded): document = loaded
        }
        let (source, address) = try playlists.parse(document, requestedAt: source, variables: [:])
        if case .media(let media) = source { try playlists.check(media, at: address) }
        switch try await edited(source, at: address) {
        case .media(let media):
            guard selection.variants != .none else {
                throw DownloadError(
                    .nothingSelected,
                    "the source is a media playlist, without audio or subtitles that are separate from the video",
                    address: address
                )
            }
            guard let part = try part(of: media) else { throw outsideRange(media, at: address) }
            let rendition = PlannedRendition(
                role: .variant,
                position: -1,
                language: nil,
                variant: nil,
                playlist: part.playlist,
                address: address,
                firstPosition: part.firstPosition,
                isPart: selection.changesMedia
            )
            return Resolution(playlist: source, address: address, renditions: [rendition])
        case .multivariant(let presentation):
            let multivariant = presentation.playlist
            let choices = try entries?(multivariant) ?? choose(from: multivariant)
            var (loaded, left) = try await playlists.loadPlaylists(
                choices.filter { $0.role != .iFrames }.map(\.address),
                variables: multivariant.variables,
                besides: ByteCount(Int64(source.bytes.count))
            )
            var renditions: [PlannedRendition] = []
            for choice in choices {
                if choice.role == .iFrames {
                    loaded[choice.address] = try await playlists.loadIFrames(
                        choice.address,
                        variables: multivariant.variables,
                        &left
                    )
                }
                guard let loaded = loaded[choice.address],
                    let media = try await edited(loaded.playlist, of: choice, in: presentation, at: loaded.address)
                else { continue }
                guard let part = try part(of: media) else {
                    // Subtitles, for example, can end before the range begins.
                    guard choice.role == .variant else { continue }
                    throw outsideRange(media, at: loaded.address)
                }
                renditions.append(
                    PlannedRendition(
                        role: choice.role,
                        position: choice.position,
                        language: choice.language,
                        variant: choice.variant,
                        playlist: part.playlist,
                        address: loaded.address,
                        reloadAddress: loaded.reloadAddress,
                        aliases: choice.aliases,
                        firstPosition: part.firstPosition,
                        isPart: selection.changesMedia
                    )
                )
            }
            return Resolution(playlist: .multivariant(multivariant), address: address, renditions: renditions)
        }
    }

    /// Returns the part of a media playlist in the time range of the selection, and the number of segments before it;
    /// `nil` if no segment overlaps the range.
    private func part(of playlist: MediaPlaylist) throws -> (playlist: MediaPlaylist, firstPosition: Int)? {
        guard let range = selection.timeRange, !acceptsLive else { return (playlist, 0) }
        let positions = playlist.positions(overlapping: range)
        guard !positions.isEmpty else { return nil }
        do {
            return (try playlist.trimmed(to: range), positions.lowerBound)
        } catch {
            throw DownloadError(.notAPlaylist, "the time range cannot be selected (\(error))", cause: error)
        }
    }

    private func outsideRange(_ playlist: MediaPlaylist, at address: ResourceAddress) -> DownloadError {
        DownloadError(
            .nothingSelected,
            "the stream has no segment in the time range",
            hint: "its duration is \(ClockText.seconds(playlist.duration))",
            address: address
        )
    }

    /// A variant or rendition to download.
    struct Choice: Sendable {
        let role: StoredRendition.Role
        let position: Int
        /// The indices of further entries of the same kind with the same playlist.
        var aliases: [Int] = []
        let language: String?
        let variant: Variant?
        let address: ResourceAddress
    }

    /// Returns the variants and renditions that match the selection, each playlist once.
    func choose(from playlist: MultivariantPlaylist) throws -> [Choice] {
        let variants = try chooseVariants(from: playlist)
        try checkLanguages(selection.audio, .audio, of: variants, in: playlist)
        try checkLanguages(selection.subtitles, .subtitles, of: variants, in: playlist)
        var choices: [Choice] = []
        // Entries with the same role, language, and playlist are stored once.
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
        for position in variants where selection.variants != .none {
            let variant = playlist.variants[position]
            add(
                Choice(role: .variant, position: position, language: nil, variant: variant, address: variant.address)
            )
        }
        var groups: [Rendition.MediaType: Set<String>] = [:]
        for type in Rendition.MediaType.allCases {
            groups[type] = Set(variants.compactMap { playlist.variants[$0].groupID(type) })
        }
        let selected = selectedRenditions(of: playlist)
        for (position, rendition) in playlist.renditions.enumerated() {
            guard let address = rendition.address, let type = rendition.type, let (role, _) = role(of: type),
                groups[type]?.contains(rendition.groupID) == true, selected.contains(position)
            else { continue }
            add(
                Choice(role: role, position: position, language: rendition.language, variant: nil, address: address)
            )
        }
        for position in chooseIFrameVariants(from: playlist, for: variants) where selection.variants != .none {
            let variant = playlist.iFrameVariants[position]
            add(
                Choice(role: .iFrames, position: position, language: nil, variant: variant, address: variant.address)
            )
        }
        guard !choices.isEmpty else {
            throw DownloadError(
                .nothingSelected,
                "the stream has no audio or subtitles that are separate from the video"
            )
        }
        return choices
    }

    /// Returns the positions of the renditions that match the selection, among those of all groups.
    private func selectedRenditions(of playlist: MultivariantPlaylist) -> Set<Int> {
        let defaultAudio = Self.defaultAudio(of: playlist)
        return Rendition.MediaType.allCases.reduce(into: []) { selected, type in
            guard let (_, languages) = role(of: type) else { return }
            let positions = playlist.positions(ofType: type, in: languages) { position, rendition in
                type == .audio ? defaultAudio.contains(position) : rendition.isDefault
            }
            selected.formUnion(positions)
        }
    }

    /// Returns the positions of the default renditions of all audio groups.
    private static func defaultAudio(of playlist: MultivariantPlaylist) -> Set<Int> {
        let audio = playlist.renditions.enumerated().filter { $0.element.type == .audio }
        return Dictionary(grouping: audio, by: \.element.groupID).values.reduce(into: []) { positions, group in
            let defaults = group.filter(\.element.isDefault)
            let automatic = group.first(where: \.element.isAutoselect) ?? group.first
            positions.formUnion((defaults.isEmpty ? automatic.map { [$0] } ?? [] : defaults).map(\.offset))
        }
    }

    /// Verifies that every requested language is available, so that a missing one is reported before the download and
    /// not noticed offline.
    private func checkLanguages(
        _ languages: DownloadSelection.Languages,
        _ type: Rendition.MediaType,
        of variants: [Int],
        in playlist: MultivariantPlaylist
    ) throws {
        let groups = Set(variants.compactMap { playlist.variants[$0].groupID(type) })
        let offered = playlist.renditions.filter { $0.type == type && groups.contains($0.groupID) }
        let missing = languages.missing(in: offered.map { (language: $0.language, name: $0.name) })
        guard !missing.isEmpty else { return }
        let otherGroups = Set(playlist.variants.compactMap { $0.groupID(type) }).subtracting(groups)
        let others = playlist.renditions.filter { $0.type == type && otherGroups.contains($0.groupID) }
        throw Self.missingLanguages(
            missing,
            type,
            offered: offered.map { (language: $0.language, name: $0.name) },
            offeredByOtherVariants: others.map { (language: $0.language, name: $0.name) },
            hintIfEmpty: "the stream has no \(type == .audio ? "separate audio renditions" : "subtitles")"
        )
    }

    /// Returns the error for languages or names that nothing matches.
    ///
    /// - Parameters:
    ///   - missing: The languages and names.
    ///   - type: Audio or subtitles.
    ///   - offered: The languages and names that can be selected.
    ///   - others: The languages and names of the variants that are not chosen.
    ///   - hintIfEmpty: The hint if nothing can be selected.
    /// - Returns: The error.
    static func missingLanguages(
        _ missing: [String],
        _ type: Rendition.MediaType,
        offered: [(language: String?, name: String?)],
        offeredByOtherVariants others: [(language: String?, name: String?)] = [],
        hintIfEmpty: String
    ) -> DownloadError {
        var seen: Set<String> = []
        func names(_ entries: [(language: String?, name: String?)]) -> String {
            entries.compactMap { RenditionMatching.description(language: $0.language, name: $0.name) }
                .filter { seen.insert($0).inserted }.joined(separator: ", ")
        }
        let (own, additional) = (names(offered), names(others))
        var hint = own.isEmpty ? hintIfEmpty : "available: \(own); select by language, name or LANGUAGE:NAME"
        if !additional.isEmpty {
            if own.isEmpty { hint = "the selected variant has none" }
            hint += "; variants that are not selected have \(additional): "
            hint += "select one of them, or all with --variants all"
        }
        return DownloadError(
            .nothingSelected,
            RenditionMatching.mismatch(missing, isAudio: type == .audio),
            hint: hint
        )
    }

    private func role(of type: Rendition.MediaType) -> (StoredRendition.Role, DownloadSelection.Languages)? {
        switch type {
        case .audio: (.audio, selection.audio)
        case .subtitles: (.subtitles, selection.subtitles)
        case .video: selection.variants == .none ? nil : (.video, .all)
        case .closedCaptions: nil
        }
    }

    private func chooseVariants(from playlist: MultivariantPlaylist) throws -> [Int] {
        let all = playlist.variants
        // Without a steering manifest, the initial pathway applies (RFC 8216bis §4.4.6.6, PATHWAY-ID).
        let pathway = all.indices.filter { all[$0].pathwayID == playlist.contentSteering?.pathwayID }
        let ordered = (pathway.isEmpty ? Array(all.indices) : pathway).sorted { first, second in
            let rates = (all[first].bandwidth?.bitsPerSecond ?? 0, all[second].bandwidth?.bitsPerSecond ?? 0)
            return rates.0 < rates.1
        }
        guard !ordered.isEmpty else { throw DownloadError(.nothingSelected, "the playlist has no variants") }
        let isQualified = { (index: Int) in
            selection.qualifiers.allSatisfy { $0.isSatisfied(by: all[index], in: playlist) }
        }
        let candidates = preferred(ordered.filter(isQualified), in: playlist)
        guard let lowest = candidates.first, let highest = candidates.last else {
            throw DownloadError(
                .nothingSelected,
                "no variant satisfies \(selection.qualifiers.map(\.description).joined(separator: " and "))",
                hint: "available: \(ordered.map { Self.summary(of: all[$0]) }.joined(separator: "; "))"
            )
        }
        switch selection.variants {
        case .all: return all.indices.filter(isQualified)
        case .best, .none: return [highest]
        case .lowest: return [lowest]
        case .minimumBandwidth(let rate):
            return [candidates.first { all[$0].bandwidth.map { $0 >= rate } ?? false } ?? highest]
        case .minimumSize(let size):
            let large = candidates.first { index in
                all[index].resolution.map { $0.width >= size.width && $0.height >= size.height } ?? false
            }
            return [large ?? highest]
        case .maximumHeight(let height):
            func pixels(_ position: Int) -> Int { all[position].resolution?.height ?? 0 }
            let best = candidates.last { pixels($0) <= height } ?? candidates.min { pixels($0) < pixels($1) } ?? lowest
            return [best]
        }
    }

    /// Returns the I-frame variants for the chosen variants: all of them, or the best one that is not higher than these.
    private func chooseIFrameVariants(from playlist: MultivariantPlaylist, for variants: [Int]) -> [Int] {
        let all = playlist.iFrameVariants
        guard !acceptsLive else { return [] }
        guard selection.variants != .all else { return Array(all.indices) }
        let highest = variants.compactMap { playlist.variants[$0].resolution?.height }.max() ?? .max
        let decodable = all.indices.filter { all[$0].codecs.allSatisfy(canDecode) && !all[$0].uri.isEmpty }
        let pathway = decodable.filter { all[$0].pathwayID == playlist.contentSteering?.pathwayID }
        let sorted = (pathway.isEmpty ? decodable : pathway).sorted { first, second in
            func rank(_ position: Int) -> (Int, Int64) {
                (all[position].resolution?.height ?? 0, all[position].bandwidth?.bitsPerSecond ?? 0)
            }
            return rank(first) < rank(second)
        }
        let best = sorted.last { (all[$0].resolution?.height ?? 0) <= highest } ?? sorted.first
        return best.map { [$0] } ?? []
    }

    /// Returns the variants that can be decoded and match the preferences for audio; a condition that no variant
    /// satisfies is ignored.
    private func preferred(_ positions: [Int], in playlist: MultivariantPlaylist) -> [Int] {
        var conditions: [(Variant) -> Bool] = [{ $0.codecs.allSatisfy(canDecode) }]
        if selection.prefersLosslessAudio { conditions.append { $0.hasLosslessAudio } }
        if selection.prefersMultichannelAudio {
            conditions.append { playlist.channelCounts(of: $0).contains { $0 > 2 } }
        }
        return conditions.reduce(positions) { remaining, condition in
            let matching = remaining.filter { condition(playlist.variants[$0]) }
            return matching.isEmpty ? remaining : matching
        }
    }

    /// Returns the attributes of a variant by which it can be chosen.
    private static func summary(of variant: Variant) -> String {
        let parts = [
            variant.bandwidth.map { "\($0.bitsPerSecond) bit/s" }, variant.resolution?.description,
            variant.videoRange?.rawValue, variant.codecs.isEmpty ? nil : variant.codecs.joined(separator: ","),
        ]
        return parts.compactMap { $0 }.joined(separator: " ")
    }
}

extension MultivariantPlaylist {
    /// Returns the positions of the renditions of a type that are selected.
    ///
    /// Each group is searched on its own, because a variant has the renditions of one group.
    ///
    /// - Parameters:
    ///   - type: The type.
    ///   - languages: The selection.
    ///   - isDefault: A closure that returns whether a rendition is selected by default.
    /// - Returns: The positions among all renditions.
    func positions(
        ofType type: Rendition.MediaType,
        in languages: DownloadSelection.Languages,
        isDefault: (Int, Rendition) -> Bool
    ) -> Set<Int> {
        let ofType = renditions.enumerated().filter { $0.element.type == type }
        return Dictionary(grouping: ofType, by: \.element.groupID).values.reduce(into: []) { selected, group in
            let offered = group.map { entry in
                DownloadSelection.Languages.Candidate(
                    language: entry.element.language,
                    name: entry.element.name,
                    isDefault: isDefault(entry.offset, entry.element)
                )
            }
            selected.formUnion(languages.positions(in: offered).map { group[$0].offset })
        }
    }
}
