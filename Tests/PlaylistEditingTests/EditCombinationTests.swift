import HLSPlaylist
import MediaTiming
import PlaylistEditing
import ResourceAddressing
import SeededRandomness
import Testing

/// Tests pairs of edits of whole presentations: the result is a clear error, or a valid presentation whose tracks have
/// the same discontinuities.
@Suite struct EditCombinationTests {
    /// A presentation with playlists of 120 seconds.
    struct Presentation: Sendable, CustomTestStringConvertible {
        let testDescription: String
        /// The texts of the playlists, by URL.
        var texts: [String: String]
        /// A Boolean value that indicates whether all segments are known, so that all tracks are cut together.
        var isComplete = true
    }

    /// Returns a media playlist of 120 seconds.
    ///
    /// - Parameters:
    ///   - seconds: The duration of a segment.
    ///   - header: The lines before the first segment.
    ///   - segment: A closure that returns the lines of a segment before its URI.
    ///   - isEnded: Whether the playlist is complete.
    /// - Returns: The text of the playlist.
    private static func media(
        _ seconds: Int,
        header: String = "#EXT-X-VERSION:4\n",
        segment: (Int) -> String = { _ in "" },
        isEnded: Bool = true
    ) -> String {
        let segments = (0..<(120 / seconds)).map { "\(segment($0))#EXTINF:\(seconds),\n\(seconds)s/\($0).ts\n" }
        return "#EXTM3U\n#EXT-X-TARGETDURATION:6\n\(header)\(segments.joined())" + (isEnded ? "#EXT-X-ENDLIST\n" : "")
    }

    private static let filmWithAudio = """
        #EXTM3U
        #EXT-X-VERSION:4
        #EXT-X-MEDIA:TYPE=AUDIO,GROUP-ID="a",NAME="English",LANGUAGE="en",DEFAULT=YES,CHANNELS="2",URI="audio"
        #EXT-X-STREAM-INF:BANDWIDTH=1000000,CODECS="avc1.64001e,mp4a.40.2",RESOLUTION=640x360,FRAME-RATE=25,AUDIO="a"
        low
        #EXT-X-STREAM-INF:BANDWIDTH=3000000,CODECS="avc1.640020,mp4a.40.2",RESOLUTION=1280x720,FRAME-RATE=50,AUDIO="a"
        high

        """

    /// Returns a presentation of two variants with separate audio.
    ///
    /// The audio has longer segments.
    private static func demuxed(_ name: String, isComplete: Bool = true, media: (Int) -> String) -> Presentation {
        Presentation(
            testDescription: name,
            texts: [
                EditedTracks.address: filmWithAudio, "https://h/low": media(4), "https://h/high": media(4),
                "https://h/audio": media(6),
            ],
            isComplete: isComplete
        )
    }

    static let presentations: [Presentation] = [
        demuxed("separate audio") { media($0) },
        Presentation(
            testDescription: "muxed",
            texts: [
                EditedTracks.address: """
                #EXTM3U
                #EXT-X-STREAM-INF:BANDWIDTH=1000000,CODECS="avc1.64001e,mp4a.40.2",RESOLUTION=640x360,FRAME-RATE=25
                low
                #EXT-X-STREAM-INF:BANDWIDTH=3000000,CODECS="avc1.640020,mp4a.40.2",RESOLUTION=1280x720,FRAME-RATE=50
                high

                """,
                "https://h/low": media(4), "https://h/high": media(6),
            ]
        ),
        demuxed("encrypted") { seconds in
            media(seconds, segment: { $0 == 0 ? "#EXT-X-KEY:METHOD=AES-128,URI=\"key\"\n" : "" })
        },
        demuxed("byte ranges") { seconds in
            media(seconds, segment: { $0 == 0 ? "#EXT-X-BYTERANGE:1000@0\n" : "#EXT-X-BYTERANGE:1000\n" })
                .replacing(#/[0-9]+\.ts/#, with: "all.ts")
        },
        demuxed("event", isComplete: false) { seconds in
            media(seconds, header: "#EXT-X-VERSION:4\n#EXT-X-PLAYLIST-TYPE:EVENT\n", isEnded: false)
        },
        demuxed("live", isComplete: false) { seconds in
            media(seconds, header: "#EXT-X-VERSION:4\n#EXT-X-MEDIA-SEQUENCE:7\n", isEnded: false)
        },
        demuxed("low latency", isComplete: false) { seconds in
            media(
                seconds,
                header: """
                    #EXT-X-VERSION:6
                    #EXT-X-MEDIA-SEQUENCE:7
                    #EXT-X-SERVER-CONTROL:CAN-BLOCK-RELOAD=YES,PART-HOLD-BACK=6
                    #EXT-X-PART-INF:PART-TARGET=2

                    """,
                segment: { number in
                    guard number >= 120 / seconds - 2 else { return "" }
                    let parts = (0..<(seconds / 2)).map { "\(seconds)s/\(number).\($0).ts" }
                    return parts.map { "#EXT-X-PART:DURATION=2,URI=\"\($0)\"\n" }.joined()
                },
                isEnded: false
            ) + "#EXT-X-PRELOAD-HINT:TYPE=PART,URI=\"next.ts\"\n"
        },
    ]

    /// The playlist that the examples of edits insert.
    private static let advertisement = [
        "https://example.com/advertisement.m3u8": """
        #EXTM3U
        #EXT-X-VERSION:3
        #EXT-X-TARGETDURATION:6
        #EXTINF:5,
        ad0.ts
        #EXTINF:5,
        ad1.ts
        #EXT-X-ENDLIST

        """
    ]

    /// The edits with their example values.
    ///
    /// Channels are left out, because their playlists depend on the date.
    private static func edits() throws -> [PlaylistEdit] {
        var edits: [PlaylistEdit] = []
        for definition in PlaylistEdit.definitions where definition.name != "live" {
            for value in definition.parameter == nil ? [""] : definition.examples {
                edits.append(try PlaylistEdit(name: definition.name, value: value))
            }
        }
        return edits
    }

    /// Returns the codes of the errors in a presentation.
    private func errors(_ multivariant: MultivariantPlaylist, _ media: [String: MediaPlaylist]) -> Set<String> {
        var playlists: [ResourceAddress: Playlist] = [:]
        for variant in multivariant.variants {
            if let playlist = media[variant.uri] { playlists[variant.address] = .media(playlist) }
        }
        for rendition in multivariant.renditions {
            guard let address = rendition.address, let uri = rendition.uri, let playlist = media[uri] else { continue }
            playlists[address] = .media(playlist)
        }
        let diagnostics = PresentationValidation(multivariant, playlists: playlists).diagnostics(of: [.rfc])
        return Set(diagnostics.flatMap(\.diagnostics).filter { $0.severity == .error }.map(\.code))
    }

    /// The dates of a film do not change where a playlist without dates is inserted.
    private static let permitted: Set<String> = ["date-time-overlap"]

    @Test(arguments: presentations)
    func pairsOfEditsAreRefusedOrValid(presentation: Presentation) async throws {
        let texts = presentation.texts.merging(Self.advertisement) { first, _ in first }
        let source = try await EditedTracks(texts, [])
        for (uri, playlist) in source.media {
            let text = texts["https://h/\(uri)"]
            #expect(text.map { Array($0.utf8) } == playlist.bytes, "\(uri)")
        }
        let known = errors(source.multivariant, source.media).union(Self.permitted)
        let edits = try Self.edits()
        var random = SeededGenerator(seed: 1)
        var validCount = 0
        for _ in 0..<150 {
            let pair = [random.pick(edits), random.pick(edits)]
            let name = pair.map { "\($0.definition.name)=\($0.value)" }.joined(separator: " ")
            let tracks: EditedTracks
            do {
                tracks = try await EditedTracks(texts, pair)
            } catch let error as PlaylistEditError {
                #expect(!"\(error)".isEmpty && !error.code.rawValue.isEmpty, "\(name)")
                continue
            }
            validCount += 1
            #expect(errors(tracks.multivariant, tracks.media).subtracting(known) == [], "\(name)")
            #expect(tracks.media.values.allSatisfy { !$0.segments.isEmpty }, "\(name)")
            let numbers = tracks.media.values.map { $0.segments.last?.discontinuitySequence }
            #expect(Set(numbers).count == 1, "\(name)")
            guard presentation.isComplete else { continue }
            let durations = tracks.media.values.map(\.duration)
            let difference = (durations.max() ?? .zero) - (durations.min() ?? .zero)
            #expect(difference <= Self.permittedDifference(after: pair), "\(name): \(difference)")
        }
        #expect(validCount > 30)
    }

    /// Returns half of the longest segment for each repetition, and for each end that is moved separately.
    private static func permittedDifference(after edits: [PlaylistEdit]) -> MediaTime {
        let isTrimmed = edits.contains { ["trim", "start", "duration"].contains($0.definition.name) }
        let repetitions = edits.filter { $0.definition.name == "repeat" }.reduce(1) { count, edit in
            count * (Int(edit.value) ?? 1)
        }
        return MediaTime(seconds: 3) * Int64((isTrimmed ? 2 : 1) * repetitions)
    }

    /// The same time in the timeline of another track would be other media.
    @Test func startPositionIsThatOfTheMultivariantPlaylistOnly() async throws {
        let texts = Self.presentations[0].texts
        let start = try PlaylistEdit(name: "set-tag", value: "EXT-X-START=TIME-OFFSET=30")
        for value in ["10...60", "14...70"] {
            let tracks = try await EditedTracks(texts, [start, try PlaylistEdit(name: "trim", value: value)])
            #expect(tracks.multivariant.start != nil && tracks.media.count == 3)
            #expect(tracks.media.values.allSatisfy { $0.start == nil })
        }
        let own = texts.mapValues {
            $0.replacing("#EXT-X-TARGETDURATION", with: "#EXT-X-START:TIME-OFFSET=5\n#EXT-X-TARGETDURATION")
        }
        let tracks = try await EditedTracks(own, [start])
        #expect(tracks.media.values.allSatisfy { $0.start == nil })
    }
}
