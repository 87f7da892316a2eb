import CostOperations

/// A writer of boxes of ISO/IEC 14496-12.
private enum BoxWriting {
    static func number(_ value: Int, _ byteCount: Int) -> [UInt8] { bigEndian(value, byteCount) }

    static func box(_ type: String, _ payload: [UInt8] = []) -> [UInt8] {
        bigEndian(payload.count + 8, 4) + Array(type.utf8) + payload
    }

    /// Returns a full box with a version and flags.
    static func full(_ type: String, version: Int = 0, flags: Int = 0, _ payload: [UInt8]) -> [UInt8] {
        box(type, [UInt8(version)] + bigEndian(flags, 3) + payload)
    }

    /// Returns a full box with a table of entries.
    static func table(_ type: String, _ count: Int, prefix: [UInt8] = [], _ entry: (Int) -> [UInt8]) -> [UInt8] {
        full(type, prefix + number(count, 4) + repeatedBytes(count, entry))
    }

    static let header = full("mvhd", zeros(8) + number(1_000, 4) + number(0, 4) + zeros(80))

    /// Returns a track with the given content of its sample table.
    static func track(_ id: Int, _ handler: String = "vide", _ table: [UInt8] = [], edits: [UInt8] = []) -> [UInt8] {
        let media =
            full("mdhd", zeros(8) + number(1_000, 4) + number(0, 4) + number(0x55C4, 2) + zeros(2))
            + full("hdlr", zeros(4) + Array(handler.utf8) + zeros(13))
            + box("minf", box("stbl", table))
        return box("trak", full("tkhd", zeros(8) + number(id, 4) + zeros(68)) + edits + box("mdia", media))
    }

    static func movie(_ children: [UInt8]) -> [UInt8] { box("moov", header + children) }

    /// Returns a movie with one track of samples.
    static func movie(times: [UInt8], chunks: [UInt8], offsets: [UInt8], sizes: [UInt8], more: [UInt8] = []) -> [UInt8]
    {
        movie(track(1, "vide", times + chunks + offsets + sizes + more))
    }

    /// Returns a time-to-sample box for samples of equal duration.
    static func equalTimes(_ count: Int) -> [UInt8] { table("stts", 1) { _ in number(count, 4) + number(100, 4) } }

    static func chunk(first: Int, samples: Int) -> [UInt8] { number(first, 4) + number(samples, 4) + number(1, 4) }

    static func offsets(_ count: Int) -> [UInt8] { table("stco", count) { number(1_000 + 10 * $0, 4) } }

    static func sizes(_ count: Int) -> [UInt8] {
        full("stsz", number(0, 4) + number(count, 4) + repeatedBytes(count) { number($0 % 7 + 1, 4) })
    }

    static func videoEntry(_ children: [UInt8] = []) -> [UInt8] {
        box("avc1", zeros(24) + number(640, 2) + number(360, 2) + zeros(50) + children)
    }

    /// Returns the initialization section of a fragmented movie.
    static func initialization(_ handler: String = "vide", entry: [UInt8] = [], more: [UInt8] = []) -> [UInt8] {
        let defaults = full("trex", number(1, 4) + number(1, 4) + number(100, 4) + number(4, 4) + zeros(4))
        let description = entry.isEmpty ? [] : table("stsd", 1) { _ in entry }
        return movie(track(1, handler, description) + box("mvex", defaults + more))
    }

    static func trackFragment(_ time: Int, _ runs: [UInt8]) -> [UInt8] {
        box("traf", full("tfhd", flags: 0x20000, number(1, 4)) + full("tfdt", number(time, 4)) + runs)
    }

    /// Returns a track run with durations, sizes, flags and composition offsets.
    static func run(_ count: Int) -> [UInt8] {
        full(
            "trun",
            flags: 0xF01,
            number(count, 4) + number(8, 4)
                + repeatedBytes(count) { sample in
                    number(100, 4) + number(1, 4) + number(0, 4) + number(sample % 3, 4)
                }
        )
    }

    static func event(_ id: Int, scheme: String = "urn:x") -> [UInt8] {
        full(
            "emsg",
            version: 1,
            number(1_000, 4) + number(5_000, 8) + number(100, 4) + number(id, 4) + Array((scheme + "\0v\0message").utf8)
        )
    }

    static func index(_ count: Int) -> [UInt8] {
        full(
            "sidx",
            number(1, 4) + number(1_000, 4) + zeros(8) + zeros(2) + number(count, 2)
                + repeatedBytes(count) { _ in
                    number(100, 4) + number(1_000, 4) + number(0x9000_0000, 4)
                }
        )
    }

    static func webVTTCue(_ text: String, more: [UInt8] = []) -> [UInt8] {
        box("vttc", more + box("payl", Array(text.utf8)))
    }

    static let webVTTEntry = box("wvtt", zeros(8) + box("vttC", Array("WEBVTT".utf8)))
    static let timedTextEntry = box("stpp", zeros(8) + Array("http://www.w3.org/ns/ttml\0\0\0".utf8))

    /// Returns an initialization section, a fragment, and the media data of its samples.
    static func subtitles(_ entry: [UInt8], _ handler: String, _ samples: [[UInt8]]) -> [UInt8] {
        func fragment(_ offset: Int) -> [UInt8] {
            let run = full(
                "trun",
                flags: 0x301,
                number(samples.count, 4) + number(offset, 4)
                    + samples.flatMap {
                        number(1_000, 4) + number($0.count, 4)
                    }
            )
            return box("moof", trackFragment(0, run))
        }
        let size = fragment(0).count + 8
        return initialization(handler, entry: entry) + fragment(size) + box("mdat", samples.flatMap(\.self))
    }
}

extension InputShape {
    /// The shapes of ISO base media files and segments.
    static var movies: [InputShape] { progressiveMovies + fragments + subtitleSamples }

    private typealias Write = BoxWriting

    private static func file(_ name: String, size: Int = 150, _ bytes: @escaping (Int) -> [UInt8]) -> InputShape {
        InputShape("mp4", name, size: size) { wholeFile(bytes($0)) }
    }

    private static var progressiveMovies: [InputShape] {
        [
            file("boxes-at-the-top") { count in
                repeatedBytes(count) { _ in Write.box("free") } + Write.movie(Write.track(1))
            },
            file("boxes-in-the-movie") { count in
                Write.movie(repeatedBytes(count) { _ in Write.box("free") } + Write.track(1))
            },
            file("tracks", size: 30) { Write.movie(repeatedBytes($0) { Write.track($0 + 1) }) },
            file("tracks-of-one-number", size: 30) { Write.movie(repeatedBytes($0) { _ in Write.track(1) }) },
            file("tracks-without-header") {
                Write.movie(repeatedBytes($0) { _ in Write.box("trak") } + Write.track(1))
            },
            file("samples") { count in
                Write.movie(
                    times: Write.table("stts", count) { _ in Write.number(1, 4) + Write.number(100, 4) },
                    chunks: Write.table("stsc", count) { Write.chunk(first: $0 + 1, samples: 1) },
                    offsets: Write.offsets(count),
                    sizes: Write.sizes(count),
                    more: Write.table("ctts", count) { Write.number(1, 4) + Write.number($0 % 3 * 100, 4) }
                        + Write.table("stss", count) { Write.number($0 + 1, 4) }
                )
            },
            file("samples-of-one-chunk") { count in
                Write.movie(
                    times: Write.equalTimes(count),
                    chunks: Write.table("stsc", 1) { _ in Write.chunk(first: 1, samples: count) },
                    offsets: Write.offsets(1),
                    sizes: Write.sizes(count)
                )
            },
            file("samples-of-one-size") { count in
                Write.movie(
                    times: Write.equalTimes(count),
                    chunks: Write.table("stsc", 1) { _ in Write.chunk(first: 1, samples: 1) },
                    offsets: Write.offsets(count),
                    sizes: Write.full("stsz", Write.number(8, 4) + Write.number(count, 4))
                )
            },
            file("entries-without-samples") { count in
                Write.movie(
                    times: Write.table("stts", count + 1) {
                        Write.number($0 == count ? 9 : 0, 4) + Write.number(100, 4)
                    },
                    chunks: Write.table("stsc", count) { _ in Write.chunk(first: 1, samples: 3) },
                    offsets: Write.offsets(3),
                    sizes: Write.sizes(9),
                    more: Write.table("ctts", count) { _ in zeros(8) }
                )
            },
            file("chunks-without-samples") { count in
                Write.movie(
                    times: Write.equalTimes(9),
                    chunks: Write.table("stsc", 1) { _ in Write.chunk(first: 1, samples: 0) },
                    offsets: Write.offsets(count),
                    sizes: Write.sizes(9)
                )
            },
            file("sync-samples-that-do-not-rise") { count in
                Write.movie(
                    times: Write.equalTimes(count),
                    chunks: Write.table("stsc", 1) { _ in Write.chunk(first: 1, samples: 1) },
                    offsets: Write.offsets(count),
                    sizes: Write.sizes(count),
                    more: Write.table("stss", count) { Write.number(count - $0, 4) }
                )
            },
            file("tracks-of-many-samples") { count in
                let table =
                    Write.equalTimes(count) + Write.table("stsc", 1) { _ in Write.chunk(first: 1, samples: 1) }
                    + Write.offsets(count) + Write.sizes(count)
                let syncs = Write.table("stss", count) { Write.number($0 + 1, 4) }
                return Write.movie(
                    Write.track(1, "vide", table + syncs) + Write.track(2, "soun", table)
                        + Write.track(3, "text", table)
                )
            },
            file("edits-without-media") { count in
                let edits = Write.table("elst", count) { _ in
                    Write.number(100, 4) + Write.number(0xFFFF_FFFF, 4) + Write.number(0x10000, 4)
                }
                return Write.movie(Write.track(1, edits: Write.box("edts", edits)))
            },
            file("sample-entries", size: 8) { count in
                Write.movie(Write.track(1, "vide", Write.table("stsd", count) { _ in Write.videoEntry() }))
            },
            file("boxes-in-a-sample-entry") { count in
                let entry = Write.videoEntry(repeatedBytes(count) { _ in Write.box("free") })
                return Write.movie(Write.track(1, "vide", Write.table("stsd", 1) { _ in entry }))
            },
            file("references-of-one-index") { Write.index($0) + Write.movie(Write.track(1)) },
            file("indexes-of-one-reference") { count in
                Write.initialization() + repeatedBytes(count) { _ in Write.index(1) }
            },
            file("long-scheme-of-an-event") { Write.event(1, scheme: String(repeating: "x", count: 32 * $0)) },
        ]
    }

    private static func segment(_ name: String, size: Int = 150, _ bytes: @escaping (Int) -> [UInt8]) -> InputShape {
        InputShape("fragments", name, size: size) { Write.initialization() + bytes($0) }
    }

    private static var fragments: [InputShape] {
        [
            segment("movie-fragments") { count in
                repeatedBytes(count) { number in
                    Write.box(
                        "moof",
                        Write.full("mfhd", Write.number(number, 4)) + Write.trackFragment(number, Write.run(1))
                    )
                        + Write.box("mdat", zeros(8))
                }
            },
            segment("track-fragments-of-one-track") { count in
                Write.box("moof", repeatedBytes(count) { Write.trackFragment($0, Write.run(1)) })
            },
            segment("track-fragments-without-header") { count in
                Write.box("moof", repeatedBytes(count) { _ in Write.box("traf") })
            },
            segment("runs-of-one-track") { count in
                Write.box("moof", Write.trackFragment(0, repeatedBytes(count) { _ in Write.run(1) }))
                    + Write.box("mdat", zeros(count))
            },
            segment("samples-of-one-run") { count in
                Write.box("moof", Write.trackFragment(0, Write.run(count))) + Write.box("mdat", zeros(count))
            },
            segment("samples-without-bytes") { count in
                let run = Write.full("trun", Write.number(0x7FFF_FFFF, 4))
                return Write.box("moof", Write.trackFragment(0, repeatedBytes(count) { _ in run }))
            },
            segment("one-long-run-and-many-short-ones") { count in
                Write.box("moof", Write.trackFragment(0, Write.run(count) + repeatedBytes(count) { _ in Write.run(1) }))
            },
            segment("boxes-in-a-track-fragment") { count in
                Write.box("moof", Write.box("traf", repeatedBytes(count) { _ in Write.box("free") }))
            },
            segment("events-of-one-time") { repeatedBytes($0) { Write.event($0) } },
            segment("events-alike") { repeatedBytes($0) { _ in Write.event(1) } },
            segment("indexes") { repeatedBytes($0) { _ in Write.index(2) } },
            segment("reference-times") { count in
                repeatedBytes(count) {
                    Write.full("prft", Write.number(1, 4) + Write.number($0, 8) + Write.number($0, 4))
                }
            },
            segment("movies") { repeatedBytes($0) { _ in Write.initialization() } },
            segment("boxes-at-the-top") { repeatedBytes($0) { _ in Write.box("skip") } },
            InputShape("fragments", "defaults-of-tracks", size: 30) { count in
                Write.initialization(more: repeatedBytes(count) { Write.full("trex", Write.number($0, 4) + zeros(16)) })
            },
            InputShape("fragments", "samples-of-webvtt", size: cuesWithoutScript) { count in
                Write.subtitles(Write.webVTTEntry, "text", (0..<count).map { Write.webVTTCue("line \($0 % 3)") })
            },
            InputShape("fragments", "samples-of-timed-text", size: 40) { count in
                let document = "<tt xmlns='http://www.w3.org/ns/ttml'><body><div><p>x</p></div></body></tt>"
                return Write.subtitles(Write.timedTextEntry, "subt", (0..<count).map { _ in Array(document.utf8) })
            },
        ]
    }

    private static var subtitleSamples: [InputShape] {
        [
            InputShape("webvtt-samples", "cues-of-one-sample", size: cuesWithoutScript) { count in
                repeatedBytes(count) { Write.webVTTCue("line \($0)") }
            },
            InputShape("webvtt-samples", "cues-alike", size: cuesWithoutScript) { count in
                repeatedBytes(count) { _ in Write.webVTTCue("line") }
            },
            InputShape("webvtt-samples", "boxes-of-one-cue") { count in
                Write.webVTTCue("line", more: repeatedBytes(count) { _ in Write.box("iden", [0x61]) })
            },
            InputShape("webvtt-samples", "settings-of-one-cue") { count in
                let settings = repeated(count) { "line:\($0 % 100)% " }
                return Write.webVTTCue("line", more: Write.box("sttg", Array(settings.utf8)))
            },
            InputShape("webvtt-samples", "gaps") { count in repeatedBytes(count) { _ in Write.box("vtte") } },
        ]
    }
}
