import HLSPlaylist
import MediaTiming
import ResourceAddressing
import Testing

@testable import PlaylistEditing

/// Tests the partial segments of a simulated channel, and the waiting for them.
@Suite struct ChannelPartTests {
    private static let start = ProgramDateTime("2026-01-01T00:00:00Z") ?? SimulatedChannel.defaultStart

    private static func media(_ durations: [String], _ tags: [Int: String] = [:]) throws -> MediaPlaylist {
        var text =
            "#EXTM3U\n#EXT-X-VERSION:7\n#EXT-X-TARGETDURATION:4\n#EXT-X-MAP:URI=\"init.mp4?a=1\",BYTERANGE=\"700@0\"\n"
        for (number, duration) in durations.enumerated() {
            text += "\(tags[number] ?? "")#EXTINF:\(duration),\n\(number).m4s\n"
        }
        return try MediaPlaylist(
            parsing: Array((text + "#EXT-X-ENDLIST\n").utf8),
            context: PlaylistContext(address: ResourceAddress("http://h/v/media.m3u8"))
        )
    }

    private func channel(
        _ playlist: MediaPlaylist,
        _ seconds: String,
        _ awaited: (Int64, Int?)? = nil,
        _ text: String = "loop,start=2026-01-01T00:00:00Z,window=12,part=1"
    ) throws -> MediaPlaylist {
        try #require(SimulatedChannel(text)).playlist(
            of: playlist,
            at: Self.start.advanced(by: #require(MediaTime(decimal: seconds))),
            delivery: PartDelivery(awaited: awaited.map { PartDelivery.Position(sequence: $0.0, part: $0.1) }),
            limits: PlaylistLimits()
        )
    }

    /// Returns the parts that a playlist lists, each as the name of its segment, its index and its duration.
    private func parts(_ playlist: MediaPlaylist) throws -> [String] {
        let lines = String(decoding: playlist.bytes, as: UTF8.self).split(separator: "\n")
        return try lines.filter { $0.hasPrefix("#EXT-X-PART:") || $0.hasPrefix("#EXT-X-PRELOAD-HINT:") }.map { line in
            let uri = try #require(line.firstMatch(of: /URI="([^"]+)"/)?.1)
            let part = try #require(SegmentPart(of: ResourceAddress(String(uri))))
            #expect(part.address.text == uri)
            #expect(part.initialization?.text == "http://h/v/init.mp4?a=1" && part.initializationRange?.length == 700)
            let duration = line.firstMatch(of: /DURATION=([0-9.]+)/).map { ":\($0.1)" } ?? "?"
            let mark = line.hasSuffix(",INDEPENDENT=YES") ? "*" : ""
            return "\(part.segment.lastPathComponent.prefix(1)).\(part.index)\(duration)\(mark)"
        }
    }

    /// The initialization section of a part has the parameters of the playlist too, if it has the same origin.
    @Test func queryIsCarriedToTheInitializationSectionOfParts() throws {
        let text =
            "#EXTM3U\n#EXT-X-VERSION:7\n#EXT-X-TARGETDURATION:4\n#EXT-X-MAP:URI=\"%\"\n#EXTINF:4,\n0.m4s\n#EXT-X-ENDLIST\n"
        for (map, expected) in [
            ("init.mp4?a=1", "http://h/v/init.mp4?a=1&token=x"), ("http://other/init.mp4", "http://other/init.mp4"),
        ] {
            let playlist = try MediaPlaylist(
                parsing: Array(text.replacing("%", with: map).utf8),
                context: PlaylistContext(address: ResourceAddress("http://h/v/media.m3u8?token=x"))
            )
            let carried = try Playlist.media(channel(playlist, "6")).carryingQuery(["*"], limits: PlaylistLimits())
            let lines = String(decoding: carried.bytes, as: UTF8.self).split(separator: "\n")
            let parts = lines.compactMap { line in
                line.firstMatch(of: /^#EXT-X-(?:PART|PRELOAD-HINT):.*URI="([^"]+)"/).flatMap {
                    SegmentPart(of: ResourceAddress(String($0.1)))
                }
            }
            #expect(parts.count == 7, "\(lines)")
            #expect(parts.allSatisfy { $0.segment.text == "http://h/v/0.m4s?token=x" })
            #expect(parts.allSatisfy { $0.initialization?.text == expected })
        }
    }

    @Test func unfinishedSegmentHasItsPublishedParts() throws {
        let playlist = try Self.media(["4", "3.5"])
        #expect(throws: PlaylistEditError.notStarted(start: Self.start)) { try channel(playlist, "3.9") }
        let first = try channel(playlist, "4")
        #expect(try parts(first) == ["0.0:1*", "0.1:1", "0.2:1", "0.3:1", "1.0?"])
        #expect(
            first.segments.count == 1 && first.hasEndMarker == false
                && first.partTargetDuration == MediaTime(seconds: 1)
        )
        #expect(first.serverControl?.canBlockReload == true)
        #expect(first.serverControl?.partHoldBack == MediaTime(seconds: 3))
        #expect(try parts(channel(playlist, "4.999")) == parts(first))
        #expect(try parts(channel(playlist, "6.2")).suffix(3) == ["1.0:1*", "1.1:1", "1.2?"])
        let third = try channel(playlist, "7.4")
        #expect(try parts(third).suffix(4) == ["1.0:1*", "1.1:1", "1.2:1", "1.3?"] && third.segments.count == 1)
        // The last part of a segment is shorter; the first segment follows after a discontinuity.
        let fourth = try channel(playlist, "7.5")
        #expect(try parts(fourth).suffix(5) == ["1.0:1*", "1.1:1", "1.2:1", "1.3:0.5", "0.0?"])
        let text = String(decoding: fourth.bytes, as: UTF8.self)
        #expect(fourth.segments.count == 2 && text.contains("1.m4s\n#EXT-X-DISCONTINUITY\n"))
        #expect(text.ranges(of: "EXT-X-PROGRAM-DATE-TIME").count == 2)
    }

    /// Only segments in the last three target durations have parts, and all playlists of a channel agree on them.
    @Test func partsAreTheSameInAllVersions() throws {
        let playlist = try Self.media(["4", "3.5", "4", "2.25"])
        var known: [String: String] = [:]
        for tick in 16..<400 {
            let live = try channel(
                playlist,
                "\(Double(tick) / 4)",
                nil,
                "loop,start=2026-01-01T00:00:00Z,window=40,part=0.75"
            )
            let lines = String(decoding: live.bytes, as: UTF8.self).split(separator: "\n")
            for line in lines.filter({ $0.hasPrefix("#EXT-X-PART:") }) {
                let uri = try #require(line.firstMatch(of: /URI="([^"]+)"/).map { String($0.1) })
                let part = try #require(SegmentPart(of: ResourceAddress(uri)))
                #expect(known.updateValue(String(line), forKey: uri) ?? String(line) == line)
                let elapsed = part.publication.sinceEpoch - Self.start.sinceEpoch
                #expect(elapsed <= MediaTime(value: Int64(tick), timescale: 4))
            }
            let finished = live.segments.count
            let listed = try parts(live).count
            #expect(finished <= 4 || listed < finished * 6)
        }
        #expect(known.count > 100)
    }

    @Test func clientsWaitForSegmentsAndParts() throws {
        let playlist = try Self.media(["4", "3.5"])
        func wait(_ awaited: (Int64, Int?), _ seconds: String = "5.5") throws -> String? {
            do throws(any Error) {
                _ = try channel(playlist, seconds, awaited)
                return nil
            } catch PlaylistEditError.notPublished(let date) {
                return "\((date.sinceEpoch - Self.start.sinceEpoch))"
            }
        }
        #expect(try wait((0, nil)) == nil && wait((0, 9)) == nil && wait((1, 0)) == nil)
        #expect(try wait((1, 1)) == "6" && wait((1, 3)) == "7.5" && wait((1, nil)) == "7.5")
        // A part after the last one of a segment is the first one of the next segment (RFC 8216bis §6.2.5.2).
        #expect(try wait((1, 4), "6") == "8.5" && wait((1, 4), "7") == "8.5" && wait((1, 5), "7") == "8.5")
        // Three parts after the last one is the limit.
        for (part, seconds) in [(4, "5.5"), (1_000, "5.5"), (.max, "7"), (5, "6")] {
            #expect { try wait((1, part), seconds) } throws: { ($0 as? PlaylistEditError)?.code == .invalidValue }
        }
        #expect(try wait((2, nil)) == "11.5" && wait((2, 0)) == "8.5")
        #expect { try wait((3, nil)) } throws: { ($0 as? PlaylistEditError)?.code == .invalidValue }
        #expect { try wait((.max, nil)) } throws: { ($0 as? PlaylistEditError)?.code == .invalidValue }
        let late = try channel(playlist, "8.5", (1, 4))
        #expect(try parts(late).suffix(2) == ["0.0:1*", "0.1?"])
    }

    @Test func channelWithoutALoopEndsWithoutParts() throws {
        let playlist = try Self.media(["4", "4"])
        let text = "once,start=2026-01-01T00:00:00Z,part=1"
        #expect(try parts(channel(playlist, "7.5", nil, text)).suffix(2) == ["1.2:1", "1.3?"])
        let end = try channel(playlist, "8", (1, 0), text)
        #expect(try parts(end).isEmpty && end.hasEndMarker && end.serverControl == nil)
        #expect(throws: PlaylistEditError.notPublished(until: Self.start.advanced(by: MediaTime(seconds: 8)))) {
            try channel(playlist, "7.5", (2, nil), text)
        }
    }

    @Test func segmentsThatCannotBeDividedAreRefused() throws {
        let encrypted = try Self.media(["4", "4"], [1: "#EXT-X-KEY:METHOD=AES-128,URI=\"k\"\n"])
        #expect { try channel(encrypted, "5") } throws: { ($0 as? PlaylistEditError)?.code == .cannotStitch }
        let long = try Self.media(["300", "4"])
        #expect { try channel(long, "301") } throws: { ($0 as? PlaylistEditError)?.code == .cannotStitch }
        // A gap has no parts.
        let gap = try Self.media(["4", "4"], [1: "#EXT-X-GAP\n"])
        #expect(try parts(channel(gap, "5")) == ["0.0:1*", "0.1:1", "0.2:1", "0.3:1"])
        #expect(try channel(gap, "5").segments.count == 1)
    }

    /// A file of subtitles may be longer than segments with parts.
    @Test func longFilesWithoutPartsAreAccepted() throws {
        let text = "#EXTM3U\n#EXT-X-TARGETDURATION:600\n#EXTINF:600,\na.vtt\n#EXT-X-ENDLIST\n"
        let live = try channel(MediaPlaylist(parsing: Array(text.utf8)), "601")
        #expect(try parts(live).isEmpty && live.segments.count == 1)
    }

    /// A recorded stream with low latency has parts and hints of its own server.
    @Test(arguments: ["part=1", "window=30"]) func tagsOfARecordedStreamAreRemoved(option: String) throws {
        let recorded = try Self.media(
            ["4", "4"],
            [
                0: "#EXT-X-SERVER-CONTROL:CAN-BLOCK-RELOAD=YES,PART-HOLD-BACK=9\n#EXT-X-PART-INF:PART-TARGET=2\n",
                1: "#EXT-X-PART:DURATION=2,URI=\"1-0.m4s\"\n#EXT-X-PART:DURATION=2,URI=\"1-1.m4s\"\n",
            ]
        )
        for seconds in ["5", "9", "13"] {
            let live = try channel(recorded, seconds, nil, "loop,start=2026-01-01T00:00:00Z,\(option)")
            let text = String(decoding: live.bytes, as: UTF8.self)
            #expect(!text.contains("1-0.m4s") && !text.contains("PART-HOLD-BACK=9") && !text.contains("PART-TARGET=2"))
            #expect(text.ranges(of: "#EXT-X-PART-INF").count == (option == "part=1" ? 1 : 0))
            #expect(live.validationErrors.isEmpty, "\(text)")
        }
    }

    @Test func serverControlOfARecordedStreamIsRemoved() throws {
        let recorded = try Self.media(["4", "4"], [0: "#EXT-X-SERVER-CONTROL:CAN-SKIP-UNTIL=24\n"])
        let whole = "loop,start=2026-01-01T00:00:00Z"
        #expect(try channel(recorded, "9", nil, whole).serverControl == nil)
        #expect(try channel(recorded, "9").serverControl?.canSkipUntil == nil)
    }

    /// A segment that ended three target durations ago has no parts.
    @Test func oldSegmentsHaveNoParts() throws {
        let playlist = try Self.media(["4", "4", "4", "4", "4", "4"])
        let text = "loop,start=2026-01-01T00:00:00Z,window=40,part=1"
        // The second segment is published at 8 s.
        #expect(try parts(channel(playlist, "20", nil, text)).count == 3 * 4 + 1)
        #expect(try parts(channel(playlist, "19.5", nil, text)).count == 3 * 4 + 3 + 1)
    }

    /// Tags apply to the lines after them, wherever they are between the duration and the URL of a segment.
    @Test func partsFollowTheTagsOfTheirSegment() throws {
        let text = """
            #EXTM3U
            #EXT-X-TARGETDURATION:4
            #EXTINF:4,
            #EXT-X-MAP:URI="init.mp4?a=1",BYTERANGE="700@0"
            0.m4s
            #EXTINF:4,
            1.m4s
            #EXT-X-ENDLIST

            """
        let context = PlaylistContext(address: ResourceAddress("http://h/v/media.m3u8"))
        let live = try channel(MediaPlaylist(parsing: Array(text.utf8), context: context), "5")
        let lines = String(decoding: live.bytes, as: UTF8.self).split(separator: "\n")
        let map = try #require(lines.firstIndex { $0.hasPrefix("#EXT-X-MAP") })
        let part = try #require(lines.firstIndex { $0.hasPrefix("#EXT-X-PART:") })
        #expect(map < part)
        #expect(try parts(live) == ["0.0:1*", "0.1:1", "0.2:1", "0.3:1", "1.0:1*", "1.1?"])
    }

    /// The URL of a segment is repeated for each part, so that the result can be much larger than the source.
    @Test func resultIsLimited() throws {
        let long = String(repeating: "a", count: 100_000)
        let text = "#EXTM3U\n#EXT-X-TARGETDURATION:20\n#EXTINF:20,\n\(long).ts\n#EXT-X-ENDLIST\n"
        let playlist = try MediaPlaylist(parsing: Array(text.utf8))
        let channel = try #require(SimulatedChannel("loop,start=2026-01-01T00:00:00Z,part=0.1"))
        #expect { () throws in
            _ = try channel.playlist(
                of: playlist,
                at: Self.start.advanced(by: MediaTime(seconds: 100)),
                delivery: PartDelivery(),
                limits: PlaylistLimits(byteCount: 1 << 20)
            )
        } throws: {
            ($0 as? PlaylistEditError)?.code == .tooLarge
        }
    }

    @Test(arguments: [
        "", "part=", "part=0", "part=0&count=4&target=1&duration=4", "part=4&count=4&target=1&duration=4&date=1",
        "part=-1&count=4&target=1&duration=4&date=1", "part=0&count=0&target=1&duration=4&date=1",
        "part=0&count=201&target=1&duration=4&date=1", "part=0&count=4&target=0&duration=4&date=1",
        "part=0&count=4&target=1&duration=0&date=1", "part=0&count=4&target=1&duration=4&date=99999999999999999",
        "part=0&count=4&target=1&duration=4&date=1&range=5", "part=0&count=4&target=1&duration=4&date=1&range=-5@0",
        "part=0&part=1&count=4&target=1&duration=4&date=1", "t=0,4",
    ])
    func otherFragmentsAreNoParts(fragment: String) {
        #expect(SegmentPart(of: ResourceAddress("http://h/0.ts#" + fragment)) == nil)
        let valid = SegmentPart(
            of: ResourceAddress("http://h/0.ts#part=0&count=4&target=1&duration=4&date=1&range=5@7")
        )
        #expect(valid?.byteRange == ByteRange(start: 7, length: 5) && valid?.segment.text == "http://h/0.ts")
    }

    /// All media playlists of a presentation have the same EXT-X-SERVER-CONTROL (RFC 8216bis §4.4.3.8).
    @Test func subtitlesAndKeyFramesHaveNoParts() throws {
        let durations = "#EXTINF:4,\n%0\n#EXTINF:4,\n%1\n#EXT-X-ENDLIST\n"
        for (header, name) in [("", "subtitles.vtt?"), ("#EXT-X-I-FRAMES-ONLY\n", "video.ts?")] {
            let text = "#EXTM3U\n#EXT-X-TARGETDURATION:4\n\(header)" + durations.replacing("%", with: name)
            let playlist = try MediaPlaylist(parsing: Array(text.utf8))
            let live = try channel(playlist, "5")
            #expect(try parts(live).isEmpty && live.segments.count == 1)
            #expect(live.serverControl == (try channel(Self.media(["4", "4"]), "5")).serverControl)
            #expect(throws: PlaylistEditError.notPublished(until: Self.start.advanced(by: MediaTime(seconds: 8)))) {
                try channel(playlist, "5", (1, 0))
            }
        }
    }

    /// A playlist has no parts without a server that delivers them.
    @Test func editWithoutAServerHasWholeSegments() throws {
        let playlist = try Self.media(["4", "4"])
        let plan = EditPlan([try PlaylistEdit(name: "live", value: "loop,start=2026-01-01T00:00:00Z,part=1")])
        let edited = try plan.applied(to: playlist, date: Self.start.advanced(by: MediaTime(seconds: 6)))
        #expect(try parts(edited).isEmpty && edited.segments.count == 1 && edited.partTargetDuration == nil)
    }
}

extension MediaPlaylist {
    /// The errors that the rules of RFC 8216bis find.
    fileprivate var validationErrors: [String] {
        Playlist.media(self).diagnostics.filter { $0.severity == .error }.map { "\($0)" }
    }
}
