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
            "tracks": .array(tracks.map(\.report)),
            "media": media?.report,
        ])
    }

    /// The file as text for people.
    var text: TerminalText {
        let size = reader.fileSize.map { "\(ByteCount($0))" }
        let facts = ["media file" + (container.map { " (\($0))" } ?? ""), QuantityText.preciseClock(duration)]
        var lines: [TerminalText] = [
            "\(name)", "\((facts + [size, bitRate?.description].compactMap { $0 }).joined(separator: ", "))",
        ]
        if let missing = reader.missingLengthText { lines.append("the file is incomplete: \(missing)") }
        lines.append("")
        lines += TextTable.lines(
            header: ["track", "type", "codec", "language", "size", "sample rate", "channels", "encryption"],
            rows: tracks.map { track in
                [
                    "\(track.id)", track.mediaType.name, track.codec ?? "", track.language ?? "", track.size ?? "",
                    track.sampleRate.map { "\($0) Hz" } ?? "", track.channelCount.map { "\($0)" } ?? "",
                    track.encryptionScheme ?? "",
                ]
            }
        )
        if let media { lines += ["", media.text] }
        return lines.joined(separator: "\n")
    }
}
