import Foundation
import HLSPlaylist
import MediaTiming
import MillstreamTesting
import PlaybackReporting
import PlaylistEditing
import ResourceAddressing
import StreamingEngine
import Testing

@testable import MediaDecoding

/// Tests that subtitles of a film are shown with its media, wherever an advertisement is inserted.
@Suite(
    .timeLimit(.minutes(10)),
    .enabled(if: SampleStreams.areAvailable, "the sample streams were not made: run Scripts/make-samples")
)
struct StitchedSubtitlesTests {
    /// A film with subtitles, and an advertisement in segments of the same format.
    struct Program: Sendable, CustomTestStringConvertible {
        let testDescription: String
        /// The multivariant playlist of the film without its subtitles.
        let film: String
        /// The attribute that refers to other renditions.
        let groups: String
        /// The variant of the film.
        let variant: String
        /// The time of the first segment in its media, at 90 kHz.
        let firstTimestamp: Int
        /// The name of the playlist of the advertisement.
        let advertisement: String
        /// The duration of the advertisement in seconds.
        let seconds: Int

        static let transportStream = Program(
            testDescription: "MPEG-TS",
            film: "",
            groups: "",
            variant: "ts/360p/media.m3u8",
            firstTimestamp: 900_000,
            advertisement: "ad/540p/media.m3u8",
            seconds: 20
        )

        static let movieFragments = Program(
            testDescription: "fMP4",
            film: """
                #EXT-X-MEDIA:TYPE=AUDIO,GROUP-ID="a",NAME="English",LANGUAGE="en",DEFAULT=YES,AUTOSELECT=YES,\
                URI="fmp4/audio-en/media.m3u8"

                """,
            groups: ",AUDIO=\"a\"",
            variant: "fmp4/360p/media.m3u8",
            firstTimestamp: 0,
            advertisement: "ad.m3u8",
            seconds: 8
        )
    }

    /// The times of the cues in the film, in milliseconds: before the advertisement at 24 s, directly after it, and
    /// later.
    private static let cues = [5_000, 24_500, 33_500]

    /// Returns the playlists and subtitles that are not files of the sample streams.
    private static func texts(_ program: Program) -> [String: String] {
        let segments = (0..<10).map { "#EXTINF:6,\ntext/\($0).vtt\n" }.joined()
        var texts: [String: String] = [:]
        texts["film.m3u8"] = """
            #EXTM3U
            #EXT-X-VERSION:6
            \(program.film)#EXT-X-MEDIA:TYPE=SUBTITLES,GROUP-ID="s",NAME="English",LANGUAGE="en",URI="text.m3u8"
            #EXT-X-STREAM-INF:BANDWIDTH=1000000,CODECS="avc1.64001e,mp4a.40.2",RESOLUTION=640x360,SUBTITLES="s"\
            \(program.groups)
            \(program.variant)

            """
        texts["text.m3u8"] =
            "#EXTM3U\n#EXT-X-TARGETDURATION:6\n#EXT-X-PLAYLIST-TYPE:VOD\n\(segments)#EXT-X-ENDLIST\n"
        texts["ad.m3u8"] = """
            #EXTM3U
            #EXT-X-VERSION:6
            #EXT-X-MEDIA:TYPE=AUDIO,GROUP-ID="a",NAME="English",LANGUAGE="en",DEFAULT=YES,URI="ad-audio.m3u8"
            #EXT-X-STREAM-INF:BANDWIDTH=1000000,CODECS="avc1.64001f,mp4a.40.2",RESOLUTION=1280x720,AUDIO="a"
            ad-video.m3u8

            """
        // The timestamps of the advertisement differ from those of the film at that time.
        for (name, folder) in [("video", "fmp4/720p"), ("audio", "fmp4/audio-en")] {
            texts["ad-\(name).m3u8"] = """
                #EXTM3U
                #EXT-X-VERSION:6
                #EXT-X-TARGETDURATION:4
                #EXT-X-PLAYLIST-TYPE:VOD
                #EXT-X-MAP:URI="\(folder)/init.mp4"
                #EXTINF:4,
                \(folder)/10.m4s
                #EXTINF:4,
                \(folder)/11.m4s
                #EXT-X-ENDLIST

                """
        }
        for segment in 0..<10 {
            let header = "WEBVTT\nX-TIMESTAMP-MAP=LOCAL:00:00:00.000,MPEGTS:\(program.firstTimestamp)\n\n"
            let own = cues.filter { $0 / 6_000 == segment }
            let blocks = own.map { "\(clock($0)) --> \(clock($0 + 800))\ncue at \($0) ms\n\n" }
            texts["text/\(segment).vtt"] = header + blocks.joined()
        }
        return texts
    }

    /// Returns a time of less than a minute as WebVTT writes it.
    private static func clock(_ milliseconds: Int) -> String {
        String(format: "00:00:%02d.%03d", milliseconds / 1_000, milliseconds % 1_000)
    }

    /// A source of playlists in a folder, some of which are given as texts.
    private struct Loader: PlaylistLoader {
        let folder: URL
        let texts: [String: String]

        func loadPlaylist(at source: String, variables: [String: String], budget: EditBudget) async throws -> Playlist {
            let name = String(source.dropFirst(FolderTransport.origin.count))
            let bytes =
                try texts[name].map { Array($0.utf8) }
                ?? [UInt8](Data(contentsOf: folder.appendingPathComponent(name)))
            return try Playlist.parse(
                bytes,
                context: PlaylistContext(address: ResourceAddress(source), importableVariables: variables)
            )
        }
    }

    /// Follows cues from the WebVTT segments over the seams of an edited presentation to the times at which they are shown.
    @Test(arguments: [Program.transportStream, .movieFragments])
    func cuesBehindAnInsertedAdvertisementAreShownWithTheirMedia(program: Program) async throws {
        let folder = try #require(SampleStreams.directory)
        let texts = Self.texts(program)
        let loader = Loader(folder: folder, texts: texts)
        let insertion = PlaylistEdit.insert(
            FolderTransport.origin + program.advertisement,
            at: MediaTime(seconds: 24)
        )
        let editor = try PresentationEditor(EditPlan([insertion]), loader: loader)
        let film = try await loader.loadPlaylist(
            at: FolderTransport.origin + "film.m3u8",
            variables: [:],
            budget: EditBudget()
        )
        guard case .multivariant(let presentation) = try await editor.prepare(film).apply() else {
            Issue.record("the film is no multivariant playlist")
            return
        }
        var replacements = texts.mapValues { Array($0.utf8) }
        for file in try await editor.files(of: presentation) { replacements["edited/\(file.name)"] = file.bytes }
        var options = StreamingOptions()
        options.selectionRules.subtitleLanguages = ["en"]
        options.selectionRules.subtitleMode = .always
        let stream = try DecodedStream(
            "edited/multivariant.m3u8",
            in: folder,
            replacing: replacements,
            options: options
        )
        try await stream.run {
            await stream.engine.setRate(1)
            try await stream.wait { $0.hasPlayedToEnd }
        }
        let shown = stream.cues.all.filter { !$0.text.isEmpty }
        #expect(shown.map(\.text) == Self.cues.map { "cue at \($0) ms" })
        for (cue, milliseconds) in zip(shown, Self.cues) {
            let expected = milliseconds + (milliseconds > 24_000 ? program.seconds * 1_000 : 0)
            let difference = cue.time / .milliseconds(1) - Double(expected)
            #expect(abs(difference) < 100, "\(cue)")
        }
        #expect(stream.shown.all.last.map { $0.time > MediaTime(seconds: Int64(59 + program.seconds)) } == true)
    }
}
