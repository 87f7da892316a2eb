import HLSPlaylist
import MediaTiming
import ReportFormat
import ResourceAddressing
import SegmentFormat
import StreamingEngine

/// The contents of a media file, as JSON or text.
struct MediaFileReport {
    private let name: String
    private let reader: MediaReader
    private let tracks: [MediaTrack]
    private let container: String?
    /// The media of the segments; `nil` if it was not asked for.
    private let media: MediaInspection?
    /// The failures of the segments that were asked for, or of the first one if the file has no other description of its
    /// tracks.
    let failures: [Failure]

    /// Creates the report of a file by reading its contents.
    ///
    /// - Parameters:
    ///   - name: The source as reports name it.
    ///   - reader: The reader of the file.
    ///   - limit: The maximum number of segments to report; `nil` to report none.
    /// - Throws: `CancellationError`.
    init(_ name: String, _ reader: MediaReader, limit: Int?) async throws {
        self.name = name
        self.reader = reader
        // The index of a file has no sizes and sample rates; the first segment has them.
        let inspection = try await MediaInspection(reader, limit: limit ?? 1)
        tracks = MediaTrack.combining(listed: reader.fileTracks, measured: inspection.tracks.map(\.format))
        container =
            inspection.segments.lazy.compactMap { segment -> String? in
                if case .success(let media) = segment.media { media.container } else { nil }
            }.first
        media = limit == nil ? nil : inspection
        failures = limit == nil && !tracks.isEmpty ? [] : inspection.failures
    }

    private var duration: MediaTime { reader.declaredDuration }
    private var metadata: MediaFileMetadata { reader.fileMetadata }
    private var bitRate: BitRate? {
        reader.missingLength == nil ? reader.fileSize.flatMap { SegmentMedia.bitRate($0, duration) } : nil
    }

    /// The file as a JSON object.
    var json: ReportValue {
        .fields([
            "kind": .string("file"),
            "url": reader.playlist.context.address.map { .string($0.withoutUserInformation.text) },
            "container": container.map { .string($0) },
            "duration": .seconds(duration),
            "bytes": reader.fileSize.map { .integer($0) },
            "bitRate": bitRate.map { .integer($0.bitsPerSecond) },
            "missingBytes": reader.missingLength.map { .integer($0) },
            "problems": reader.fileProblem.map { .strings([$0]) },
            "title": metadata.title.map { .string($0) },
            "artist": metadata.artist.map { .string($0) },
            "album": metadata.albumTitle.map { .string($0) },
            "artwork": artwork,
            "tracks": .array(tracks.map { report(of: $0) }),
            "media": media?.report,
        ])
    }

    private var artwork: ReportValue? {
        metadata.artwork.map { artwork in
            ReportValue.fields([
                "type": .string(artwork.contentType), "bytes": .integer(Int64(clamping: artwork.bytes.count)),
            ])
        }
    }

    /// The file as text for people.
    var text: TerminalText {
        let size = reader.fileSize.map { "\(ByteCount($0))" }
        let facts = ["media file" + (container.map { " (\($0))" } ?? ""), QuantityText.preciseClock(duration)]
        var lines: [TerminalText] = [
            "\(name)", "\((facts + [size, bitRate?.description].compactMap { $0 }).joined(separator: ", "))",
        ]
        if let missing = reader.missingLengthText { lines.append("the file is incomplete: \(missing)") }
        if let problem = reader.fileProblem { lines.append("warning: \(problem)") }
        lines += metadataLines
        lines.append("")
        lines += TextTable.lines(
            header: [
                "track", "type", "codec", "language", "name", "size", "sample rate", "channels", "encryption",
                "playback",
            ],
            rows: tracks.map { track in
                [
                    "\(track.id)", track.mediaType.name, track.codec ?? "", track.language ?? "", track.name ?? "",
                    track.size ?? "",
                    track.sampleRate.map { "\($0) Hz" } ?? "", track.channelCount.map { "\($0)" } ?? "",
                    track.encryptionScheme ?? "", isSupported(track) ? "" : "not supported",
                ]
            }
        )
        if let media { lines += ["", media.text] }
        return lines.joined(separator: "\n")
    }

    /// Returns a Boolean value that indicates whether a track has no format of subtitles that cannot be shown.
    private func isSupported(_ track: MediaTrack) -> Bool {
        guard track.mediaType == .subtitles, let container = reader.fileContainer else { return true }
        return FileSubtitleFormat(track, in: container) != nil
    }

    /// Returns a track as a JSON object.
    private func report(of track: MediaTrack) -> ReportValue {
        guard !isSupported(track), case .object(let values) = track.report,
            case .object(let addition) = ReportValue.fields(["supported": .bool(false)])
        else { return track.report }
        return .object(values + addition)
    }

    /// The metadata as text for people, one line for each property.
    private var metadataLines: [TerminalText] {
        var lines: [TerminalText] = []
        if let title = metadata.title { lines.append("title: \(title)") }
        if let artist = metadata.artist { lines.append("artist: \(artist)") }
        if let album = metadata.albumTitle { lines.append("album: \(album)") }
        if let artwork = metadata.artwork {
            lines.append("artwork: \(artwork.contentType), \(ByteCount(Int64(clamping: artwork.bytes.count)))")
        }
        return lines
    }
}
