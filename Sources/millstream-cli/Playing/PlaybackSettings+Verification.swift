import HLSPlaylist
import MediaTiming
import Millstream
import PlaybackReporting
import ReportFormat
import SegmentFormat
import StreamingEngine

extension PlaybackSettings {
    /// Verifies that an asset has what the settings request.
    ///
    /// An asset that cannot be inspected is accepted, so that playback reports the error in its logs.
    ///
    /// - Returns: The notices for the user about limits that no variant satisfies, and about subtitles that cannot be
    ///   shown.
    /// - Throws: ``Failure`` if the asset does not have a requested language, if it ends before the requested start or
    ///   a requested image, if it has no video for the image, or if it begins after the requested end.
    func verify(_ asset: Asset) async throws -> [TerminalText] {
        let limits = [maximumHeight.map(VariantLimit.maximumHeight), maximumBitRate.map(VariantLimit.maximumBitRate)]
            .compactMap { $0 }
        let isRestricted = start != nil || end != nil || lastScreenshot != nil || !limits.isEmpty
        guard isRestricted || !requiredLanguages.isEmpty || subtitleLanguages != nil else { return [] }
        do {
            try await asset.loadValues(for: [.duration, .mediaSelectionGroups, .playbackType, .tracks, .variants])
        } catch is CancellationError {
            throw CancellationError()
        } catch {
            return []
        }
        if let start, let duration = asset.loadedValue(.duration) ?? nil, start >= duration {
            throw Failure(
                .failed,
                "start-after-end",
                "--start \(start) is not before the end of the stream",
                hint: "the duration is \(QuantityText.preciseClock(duration))"
            )
        }
        if let end, start == nil, rate > 0, let liveStart = asset.loadedValue(.liveStart) ?? nil, end <= liveStart {
            throw Self.endBeforeStart(end)
        }
        try verifyVideo(of: asset)
        if let time = lastScreenshot, let duration = asset.loadedValue(.duration) ?? nil, time >= duration {
            throw Failure(
                .failed,
                "start-after-end",
                "--screenshot \(time) is not before the end of the stream",
                hint: "the duration is \(QuantityText.preciseClock(duration))"
            )
        }
        try verify(audioLanguages, [.audio], .audio, of: asset)
        try verify(subtitleLanguages ?? [], [.subtitles, .closedCaptions], .subtitles, of: asset)
        var notices =
            asset.loadedValue(.variants).map { variants in limits.compactMap { $0.notice(for: variants) } } ?? []
        if let end, let duration = asset.loadedValue(.duration) ?? nil, end > duration {
            let length = QuantityText.preciseClock(duration)
            notices.append("the stream ends before --until: its duration is \(length)")
        }
        if subtitleLanguages != nil, let notice = Self.unsupportedSubtitles(of: asset) { notices.append("\(notice)") }
        return notices
    }

    /// Returns the error for a stream that begins to play after the requested end.
    static func endBeforeStart(_ end: MediaTime) -> Failure {
        Failure(
            .failed,
            "until-before-start",
            "--until \(end) is before the time at which the stream begins to play",
            hint: "a live stream begins at its live edge; --start 0 begins at the earliest time"
        )
    }

    /// Verifies that an asset has video if an image is requested.
    ///
    /// A stream is only refused if all of its variants declare that they have only audio.
    ///
    /// - Parameter asset: The asset.
    /// - Throws: ``Failure`` if it has no video.
    private func verifyVideo(of asset: Asset) throws {
        guard let time = lastScreenshot else { return }
        let tracks: [AssetTrack] = asset.loadedValue(.tracks) ?? []
        guard !tracks.isEmpty, !tracks.contains(where: { $0.mediaType == .video }) else { return }
        let type: PlaybackType? = asset.loadedValue(.playbackType)
        let variants: [AssetVariant] = asset.loadedValue(.variants) ?? []
        guard type == .file || !variants.isEmpty && variants.allSatisfy(\.isAudioOnly) else { return }
        throw Failure(.failed, "no-frame", "--screenshot \(time) cannot be written: the media has no video")
    }

    /// Verifies that an asset has at least one of the preferred languages or names.
    private func verify(
        _ languages: [String],
        _ types: [Rendition.MediaType],
        _ mediaType: MediaType,
        of asset: Asset
    ) throws {
        guard !languages.isEmpty, requiredLanguages.contains(mediaType) else { return }
        let groups = (asset.loadedValue(.mediaSelectionGroups) ?? []).filter { types.contains($0.type) }
        let tracks = (asset.loadedValue(.tracks) ?? []).filter { $0.mediaType == mediaType }
        // Of audio without options, the first track is played; subtitles without options are not shown.
        let played = mediaType == .audio && groups.isEmpty ? tracks.prefix(1) : []
        var available: [(language: String?, name: String?)] = played.map { (language: $0.language, name: $0.name) }
        for option in groups.flatMap({ $0.options }) {
            available.append((language: option.language, name: option.name))
        }
        let isAvailable = languages.contains { text in
            available.contains { RenditionMatching.distance(from: text, toLanguage: $0.language, name: $0.name) != nil }
        }
        guard !isAvailable else { return }
        let unsupported = mediaType == .subtitles ? Self.unsupportedSubtitles(of: asset) : nil
        var seen: Set<String> = []
        let names = available.compactMap { RenditionMatching.description(language: $0.language, name: $0.name) }
            .filter { seen.insert($0.lowercased()).inserted }
        throw Failure(
            .failed,
            "language-not-available",
            RenditionMatching.mismatch(languages, isAudio: mediaType == .audio),
            hint: unsupported.map { names.isEmpty ? $0 : "\(Self.hint(available: names, mediaType)); \($0)" }
                ?? Self.hint(available: names, mediaType)
        )
    }

    /// Returns a sentence about the subtitle tracks of a media file that cannot be shown; `nil` if there are none.
    private static func unsupportedSubtitles(of asset: Asset) -> String? {
        let options = (asset.loadedValue(.mediaSelectionGroups) ?? []).filter { $0.type == .subtitles }
            .flatMap { $0.options }
        // The playlists of a stream declare its subtitles.
        guard options.allSatisfy({ $0.encodings.isEmpty }) else { return nil }
        var formats: [String] = []
        for track in asset.loadedValue(.tracks) ?? [] where track.mediaType == .subtitles {
            guard let codec = track.codec, !FileSubtitleFormat.isSupported(codec: codec) else { continue }
            if !formats.contains(codec) { formats.append(codec) }
        }
        return formats.isEmpty ? nil : "subtitles of format \(formats.joined(separator: ", ")) are not supported"
    }

    private static func hint(available names: [String], _ mediaType: MediaType) -> String {
        names.isEmpty
            ? "the stream has no \(mediaType == .audio ? "audio" : "subtitles") with a language or a name"
            : "available: \(names.joined(separator: ", "))"
    }
}
