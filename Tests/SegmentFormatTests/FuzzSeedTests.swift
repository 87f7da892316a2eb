import Foundation
import Testing

/// Tests that the seeds of the media targets in `Fuzzing/Seeds` equal the output of the fixture builders.
///
/// With `MILLSTREAM_WRITE_SEEDS=1` the files are written before the comparison.
@Suite struct FuzzSeedTests {
    private static let folder = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent().appendingPathComponent("Fuzzing/Seeds")

    static let seeds: [(path: String, bytes: [UInt8])] = [
        ("mp4/initialization", Movies.initialization),
        ("mp4/progressive", Array(Movies.progressive(movieFirst: true).bytes.prefix(3_500))),
        ("mp4/metadata", TaggedFiles.taggedMovie),
        ("mp4/movie-last", Array(Movies.progressive(movieFirst: false).bytes.suffix(3_500))),
        (
            "fragments/two",
            Movies.initialization + Movies.fragment(1, base: 0, payload: 40)
                + Movies.fragment(2, base: 25_600, payload: 40)
        ),
        (
            "fragments/index",
            Movies.initialization + Movies.index(earliest: 0, [(false, 900, 25_600), (true, 100, 1)])
                + Movies.fragment(1, base: 0, payload: 40)
        ),
        (
            "fragments/event",
            fullBox("emsg", 1, 0, u32(1), u64(1), u32(1), u32(1), ascii("urn:x\0\0"), zeros(8))
                + fullBox("prft", 1, 0, u32(1), u64(1 << 40), u64(90_000)) + Movies.fragment(1, base: 0, payload: 40)
        ),
        (
            "webvtt-samples/webvtt",
            FragmentedSubtitlesTests.webVTT
                + FragmentedSubtitlesTests.fragment(
                    base: 0,
                    [
                        (
                            1_000,
                            box("vttc", box("iden", ascii("1")), box("sttg", ascii("line:0")), box("payl", ascii("a")))
                        )
                    ]
                )
        ),
        ("webvtt-samples/sample", box("vttc", box("payl", ascii("<b>text</b>"))) + box("vtte")),
        (
            "webvtt-samples/ttml",
            FragmentedSubtitlesTests.timedText
                + FragmentedSubtitlesTests.fragment(
                    base: 0,
                    [(1_000, ascii("<tt xmlns=\"http://www.w3.org/ns/ttml\"><body><p begin=\"0s\">a</p></body></tt>"))]
                )
        ),
        ("mpeg-ts/film", Array(TransportStreamBuilder.film(seconds: 1).prefix(188 * 16))),
        (
            "mpeg-ts/captions",
            [0, 0, 0, 1] + CaptionExtractionTests.unit + [0, 0, 1, 0x65, 0x88, 0x84]
        ),
        ("packed-audio/aac", Audio.id3(Audio.timestamp(7)) + Audio.repeated(Audio.adts(60), 8)),
        ("packed-audio/mp3", Audio.repeated(Audio.mp3, 3)),
        ("packed-audio/ac-3", Audio.repeated(Audio.ac3, 1) + Audio.enhancedAC3),
        ("packed-audio/flac-metadata", TaggedFiles.flac(TaggedFiles.png)),
        ("packed-audio/mp3-metadata", Array(TaggedFiles.taggedMP3.prefix(900))),
        ("packed-audio/flac", Audio.flac(samples: 100_000, picture: 20, frames: 50)),
        (
            "id3/frames",
            Audio.id3(
                Audio.frame("TXXX", [1, 0xFF, 0xFE, 0x41, 0, 0, 0, 0x42, 0])
                    + Audio.frame("GEOB", [3] + ascii("a\0b\0c\0d"))
                    + Audio.frame("APIC", [0] + ascii("a\0") + [3, 0, 1], flags: 0x43)
                    + Audio.frame("COMM", [0] + ascii("engd\0text")) + Audio.frame("WXXX", [0] + ascii("d\0http://a"))
            )
        ),
        ("id3/old", Audio.id3(version: 2, flags: 0x80, ascii("TT2") + [0, 0, 3, 0, 0xFF, 0])),
        ("matroska/film", Containers.matroska(seconds: 4, step: 2).file),
        ("matroska/metadata", TaggedFiles.matroska),
        ("ogg/opus", Containers.opus(seconds: 1)),
        ("ogg/metadata", TaggedFiles.opus(TaggedFiles.commentTexts)),
        ("wav/metadata", TaggedFiles.wave),
        ("wav/short", Array(Audio.wave(seconds: 1).prefix(400))),
        ("captions/triplets", [0x80] + CaptionExtractionTests.userData),
        ("captions/unit", [0x02] + CaptionExtractionTests.unit),
        ("captions/sample", [0x24] + u32(CaptionExtractionTests.unit.count) + CaptionExtractionTests.unit),
        ("captions/stream", [0x06, 0, 0, 0, 1] + CaptionExtractionTests.unit + [0, 0, 1]),
        ("captions/roll-up", rollUp),
    ]

    /// Caption data triplets of a caption that is shown, rolled up and erased.
    private static var rollUp: [UInt8] {
        var line = LineTwentyOne()
        line.command(0x25)
        line.row(14, indent: 1)
        line.text("Hello")
        line.command(0x2D)
        line.text("world")
        line.command(0x20)
        line.text("pop")
        line.command(0x2F)
        line.command(0x2C)
        return [0x80] + line.pairs.flatMap { [0xFC, $0.0, $0.1] }
    }

    @Test(arguments: seeds.indices)
    func seedEqualsBuilderOutput(_ index: Int) throws {
        let seed = Self.seeds[index]
        let file = Self.folder.appendingPathComponent(seed.path)
        if ProcessInfo.processInfo.environment["MILLSTREAM_WRITE_SEEDS"] == "1" {
            try FileManager.default.createDirectory(
                at: file.deletingLastPathComponent(),
                withIntermediateDirectories: true
            )
            try Data(seed.bytes).write(to: file)
        }
        #expect(try [UInt8](Data(contentsOf: file)) == seed.bytes)
    }
}
