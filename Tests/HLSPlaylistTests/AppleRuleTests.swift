import Testing

@testable import HLSPlaylist

/// Apple's rules, with playlists that just obey them and playlists that just break them.
@Suite struct AppleRuleTests {
    private func codes(_ text: String) throws -> String { try RuleFindings.codes(text, [.apple]) }

    // MARK: Media playlists

    @Test(
        arguments: [
            ("#EXT-X-ENDLIST", "apple-missing-playlist-type"), ("#EXT-X-ENDLIST\n#EXT-X-PLAYLIST-TYPE:VOD", ""),
            ("#EXT-X-ENDLIST\n#EXT-X-MEDIA-SEQUENCE:0", "apple-missing-playlist-type"),
            ("#EXT-X-ENDLIST\n#EXT-X-MEDIA-SEQUENCE:1", ""),
            ("#EXT-X-PLAYLIST-TYPE:EVENT", ""), ("#EXT-X-PROGRAM-DATE-TIME:2030-01-01T00:00:00.000Z", ""),
            ("#EXT-X-MEDIA-SEQUENCE:0", "apple-live-without-date"),
            ("#EXT-X-PROGRAM-DATE-TIME:2030-01-01T00:00:00.000Z\n#EXT-X-MEDIA-SEQUENCE:1", "apple-live-window-short"),
            ("#EXT-X-PLAYLIST-TYPE:EVENT\n#EXT-X-DISCONTINUITY", ""),
            ("#EXT-X-ENDLIST\n#EXT-X-PLAYLIST-TYPE:VOD\n#EXT-X-DISCONTINUITY", ""),
            (
                "#EXT-X-PROGRAM-DATE-TIME:2030-01-01T00:00:00.000Z\n#EXT-X-DISCONTINUITY",
                "apple-live-without-discontinuity-sequence"
            ),
            (
                "#EXT-X-PROGRAM-DATE-TIME:2030-01-01T00:00:00.000Z\n#EXT-X-DISCONTINUITY-SEQUENCE:0\n#EXT-X-DISCONTINUITY",
                ""
            ),
        ]
    )
    func playlistsHaveATypeAndLivePlaylistsHaveDates(lines: String, codes: String) throws {
        #expect(try self.codes("#EXTM3U\n#EXT-X-TARGETDURATION:6\n\(lines)\n#EXTINF:6,\nhttps://a/b.ts\n") == codes)
    }

    @Test(
        arguments: [
            (5, "180", "apple-live-window-short"), (6, "150", ""), (6, "149.999", "apple-live-window"),
            (7, "100", "apple-live-window"),
        ]
    )
    func livePlaylistsHaveFifteenMinutes(count: Int, duration: String, code: String) throws {
        let segments = String(repeating: "#EXTINF:\(duration),\na.ts\n", count: count)
        func found(_ head: String) throws -> [String] {
            try RuleFindings.lines("#EXTM3U\n\(head)\(segments)", [.apple]).filter { $0.contains("apple-live-w") }
        }
        let head = "#EXT-X-TARGETDURATION:6\n#EXT-X-MEDIA-SEQUENCE:"
        #expect(try found("\(head)1\n") == ["0 apple-live-without-date"] + (code.isEmpty ? [] : ["0 \(code)"]))
        #expect(try found("\(head)0\n") == ["0 apple-live-without-date"])
        #expect(try found("\(head)1\n#EXT-X-SKIP:SKIPPED-SEGMENTS=1\n") == [])
    }

    @Test func livePlaylistsWithoutSegmentsNeedNoDate() throws {
        #expect(try codes("#EXTM3U\n#EXT-X-TARGETDURATION:6\n") == "")
    }

    @Test(
        arguments: [
            (6, ["6"], []), (5, ["5"], ["2 apple-target-duration"]), (7, ["6"], ["2 apple-target-duration"]),
            (6, ["6.5"], []), (6, ["6.501", "6.501"], ["6 apple-longer-than-target", "8 apple-longer-than-target"]),
            (6, ["5", "5", "1"], []), (6, ["4.999", "5", "6"], ["0 apple-segment-duration"]),
            (6, ["4.999", "5.001", "1"], []),
            (6, ["1", "1"], []), (6, ["1", "5.999", "5.999"], ["0 apple-segment-duration"]),
            (6, ["6", "4", "9"], ["10 apple-longer-than-target"]),
        ] as [(Int, [String], [String])]
    )
    func segmentsHaveSixSeconds(target: Int, durations: [String], found: [String]) throws {
        func lines(_ name: String, _ tag: String = "") throws -> [String] {
            let segments = durations.map { "#EXTINF:\($0),\n\(name)\n" }.joined()
            let head =
                "#EXTM3U\n#EXT-X-TARGETDURATION:\(target)\n#EXT-X-PLAYLIST-TYPE:VOD\n\(tag.isEmpty ? "#EXT-X-BITRATE:1" : tag)\n"
            return try RuleFindings.lines("\(head)\(segments)#EXT-X-ENDLIST\n", [.apple])
        }
        #expect(try lines("a.ts") == found)
        // Subtitles and I-frames have other durations.
        let others = found.filter { $0.hasSuffix("longer-than-target") }
        #expect(try lines("a.vtt") == others && lines("a.webvtt?b") == others)
        #expect(try lines("a.ts?vtt") == found && lines("vtt") == found)
        #expect(try lines("a.ts", "#EXT-X-I-FRAMES-ONLY") == others)
    }

    @Test(
        arguments: [
            ("https://a/b.ts", ""), ("http://a/b.ts", "apple-segment-without-tls"),
            ("HTTP://a/b.ts", "apple-segment-without-tls"),
            ("b.ts", ""), ("http/b.ts", ""),
        ]
    )
    func segmentsAreLoadedWithTLS(address: String, code: String) throws {
        let text =
            "#EXTM3U\n#EXT-X-TARGETDURATION:6\n#EXT-X-PLAYLIST-TYPE:VOD\n#EXTINF:6,\na.ts\n#EXTINF:6,\n\(address)\n#EXT-X-ENDLIST\n"
        #expect(try RuleFindings.lines(text, [.apple]) == (code.isEmpty ? [] : ["7 \(code)"]))
    }

    @Test(
        arguments: [
            ("#EXT-X-PART-INF:PART-TARGET=1", 20, "", []),
            ("#EXT-X-PART-INF:PART-TARGET=1.001", 20, "", ["5 apple-part-target"]),
            ("#EXT-X-PART-INF:PART-TARGET=0.999", 20, "", ["5 apple-part-target"]),
            ("#EXT-X-PART-INF:PART-TARGET=x", 20, "", []),
            ("#EXT-X-PART-INF:PART-TARGET=1", 20, "PART-HOLD-BACK=3", []),
            ("#EXT-X-PART-INF:PART-TARGET=1", 20, "PART-HOLD-BACK=2.999", ["6 apple-part-hold-back"]),
            ("#EXT-X-PART-INF:PART-TARGET=1", 21, "", ["5 apple-no-delta-updates"]),
            ("#EXT-X-PART-INF:PART-TARGET=1", 21, "CAN-SKIP-UNTIL=36", []),
            ("#EXT-X-PART-INF:PART-TARGET=1", 21, "CAN-BLOCK-RELOAD=YES", ["5 apple-no-delta-updates"]),
            ("#EXT-X-PART-INF:PART-TARGET=1\n#EXT-X-ENDLIST", 21, "", []),
            ("#EXT-X-BITRATE:1", 21, "PART-HOLD-BACK=1", []),
            ("#EXT-X-DATERANGE:ID=\"a\"", 1, "CAN-SKIP-UNTIL=36", ["6 apple-no-date-range-skip"]),
            (
                "#EXT-X-DATERANGE:ID=\"a\"", 1, "CAN-SKIP-UNTIL=36,CAN-SKIP-DATERANGES=NO",
                ["6 apple-no-date-range-skip"]
            ),
            ("#EXT-X-DATERANGE:ID=\"a\"", 1, "CAN-SKIP-UNTIL=36,CAN-SKIP-DATERANGES=YES", []),
            ("#EXT-X-DATERANGE:ID=\"a\"", 1, "HOLD-BACK=36", []),
            ("#EXT-X-BITRATE:1", 1, "CAN-SKIP-UNTIL=36", []),
        ] as [(String, Int, String, [String])]
    )
    func lowLatencyPlaylistsHaveSeconds(lines: String, count: Int, control: String, found: [String]) throws {
        let text =
            "#EXTM3U\n#EXT-X-TARGETDURATION:6\n#EXT-X-PLAYLIST-TYPE:EVENT\n#EXT-X-BITRATE:1\n\(lines)\n"
            + (control.isEmpty ? "" : "#EXT-X-SERVER-CONTROL:\(control)\n")
            + String(repeating: "#EXTINF:6,\na.ts\n", count: count)
        #expect(try RuleFindings.lines(text, [.apple]) == found)
    }

    @Test(
        arguments: [
            ("METHOD=NONE,URI=\"skd://a\"", ""), ("METHOD=AES-128,URI=\"u\"", ""),
            ("METHOD=SAMPLE-AES-CTR,URI=\"u\"", "apple-sample-aes-ctr"),
            ("METHOD=SAMPLE-AES,URI=\"skd://a\",KEYFORMAT=\"com.apple.streamingkeydelivery\"", ""),
            ("METHOD=AES-128,URI=\"skd://a\",KEYFORMAT=\"com.apple.streamingkeydelivery\"", "apple-fairplay-method"),
            (
                "METHOD=SAMPLE-AES-CTR,URI=\"skd://a\",KEYFORMAT=\"com.apple.streamingkeydelivery\"",
                "apple-sample-aes-ctr"
            ),
            ("METHOD=SAMPLE-AES,URI=\"SKD://a\"", "apple-fairplay-key-format"), ("METHOD=SAMPLE-AES,URI=\"skd\"", ""),
            ("METHOD=SAMPLE-AES,URI=\"skd:a\",KEYFORMAT=\"identity\"", "apple-fairplay-key-format"),
            ("URI=\"skd:a\"", ""),
            ("METHOD=SAMPLE-AES,URI=\"a\",IV=0x0,KEYFORMAT=\"com.apple.streamingkeydelivery\"", "apple-fairplay-iv"),
            ("METHOD=SAMPLE-AES,URI=\"a\",IV=0x0", ""),
        ]
    )
    func fairPlayKeysHaveTheirMethodAndFormat(attributes: String, codes: String) throws {
        let text =
            "#EXTM3U\n#EXT-X-TARGETDURATION:6\n#EXT-X-PLAYLIST-TYPE:VOD\n#EXT-X-KEY:\(attributes)\n#EXTINF:6,\na.ts\n#EXT-X-ENDLIST\n"
        #expect(try self.codes(text) == codes)
        let session = RuleFindings.multivariant("#EXT-X-SESSION-KEY:\(attributes)")
        let found = try RuleFindings.diagnostics(session, [.apple]).filter { $0.line == 2 }.map(\.code)
        #expect(found.joined(separator: " ") == codes)
    }

    // MARK: Multivariant playlists

    /// A playlist that obeys all rules, with variants and I-frame variants that can be replaced.
    private struct Ladder {
        var head = "#EXT-X-INDEPENDENT-SEGMENTS\n"
        var renditions = [
            "TYPE=AUDIO,GROUP-ID=\"a\",NAME=\"n\",LANGUAGE=\"en\",URI=\"a\"",
            "TYPE=CLOSED-CAPTIONS,GROUP-ID=\"c\",NAME=\"n\",LANGUAGE=\"en\",INSTREAM-ID=\"CC1\"",
        ]
        var variants = [low, high, low, high]
        var frames = [
            "BANDWIDTH=1,CODECS=\"avc1.640028\",RESOLUTION=640x360",
            "BANDWIDTH=2,CODECS=\"avc1.640028\",RESOLUTION=640x360",
        ]

        static let low =
            "BANDWIDTH=2000000,AVERAGE-BANDWIDTH=1500000,CODECS=\"avc1.64001E,mp4a.40.2\",RESOLUTION=640x360,FRAME-RATE=30,AUDIO=\"a\""
        static let high =
            "BANDWIDTH=4000000,AVERAGE-BANDWIDTH=3000000,CODECS=\"avc1.64001F,mp4a.40.2\",RESOLUTION=960x540,FRAME-RATE=30,AUDIO=\"a\""

        var text: String {
            "#EXTM3U\n\(head)" + renditions.map { "#EXT-X-MEDIA:\($0)\n" }.joined()
                + variants.enumerated().map { "#EXT-X-STREAM-INF:\($1)\nv\($0).m3u8\n" }.joined()
                + frames.map { "#EXT-X-I-FRAME-STREAM-INF:\($0),URI=\"i\"\n" }.joined()
        }

        /// Changes a text in the given variants.
        func replacing(_ old: String, with new: String, in positions: Int...) -> Ladder {
            var result = self
            for position in positions { result.variants[position] = variants[position].replacing(old, with: new) }
            return result
        }

        func replacingInAll(_ old: String, with new: String) -> Ladder { replacing(old, with: new, in: 0, 1, 2, 3) }

        func frames(_ frames: String...) -> Ladder {
            var result = self
            result.frames = frames
            return result
        }

        func head(_ head: String) -> Ladder {
            var result = self
            result.head = head
            return result
        }

        func renditions(_ renditions: String...) -> Ladder {
            var result = self
            result.renditions = renditions
            return result
        }

        func with(_ variants: [String]) -> Ladder {
            var result = self
            result.variants = variants
            return result
        }
    }

    private func lines(_ ladder: Ladder) throws -> [String] { try RuleFindings.lines(ladder.text, [.apple]) }

    @Test func theExampleObeysAllRules() throws {
        #expect(try lines(Ladder()) == [])
        #expect(try RuleFindings.lines(Ladder().text).filter { !$0.contains("missing-channels") } == [])
    }

    @Test func variantsHaveTheRequiredAttributes() throws {
        let base = Ladder()
        #expect(try lines(base.head("")) == ["0 apple-missing-independent-segments"])
        let codec = ",CODECS=\"avc1.64001E,mp4a.40.2\""
        #expect(try lines(base.replacing(codec, with: "", in: 0)) == ["5 apple-missing-codecs"])
        #expect(
            try lines(base.replacing(",AVERAGE-BANDWIDTH=1500000", with: "", in: 0)) == [
                "5 apple-missing-average-bandwidth"
            ]
        )
        #expect(try lines(base.replacing(",RESOLUTION=640x360", with: "", in: 0)) == ["5 apple-missing-resolution"])
        #expect(try lines(base.replacing(",FRAME-RATE=30", with: "", in: 0)) == ["5 apple-missing-frame-rate"])
        #expect(
            try lines(base.replacing("FRAME-RATE=30", with: "FRAME-RATE=30,SCORE=1", in: 1)) == [
                "5 apple-missing-score"
            ]
        )
        #expect(try lines(base.replacingInAll("FRAME-RATE=30", with: "FRAME-RATE=30,SCORE=1")) == [])
        #expect(
            try lines(base.replacing("AUDIO", with: "SUBTITLES=\"s\",AUDIO", in: 1)) == [
                "7 apple-subtitles-not-in-codecs"
            ]
        )
        let text = base.replacing("AUDIO", with: "SUBTITLES=\"s\",AUDIO", in: 1).replacing(
            "mp4a.40.2",
            with: "mp4a.40.2,wvtt",
            in: 1
        )
        #expect(try lines(text) == [])
    }

    @Test(
        arguments: [
            ("3000000", "1500000", ""), ("3000001", "1500000", "apple-peak-twice-average"), ("1500000", "1500000", ""),
            ("1", "1500000", ""), ("9223372036854775807", "4611686018427387903", "apple-peak-twice-average"),
            ("5", "0", "apple-peak-twice-average"), ("0", "0", ""),
        ]
    )
    func peaksAreAtMostTwiceTheAverage(peak: String, average: String, code: String) throws {
        let ladder = Ladder().replacing(
            "BANDWIDTH=2000000,AVERAGE-BANDWIDTH=1500000",
            with: "BANDWIDTH=\(peak),AVERAGE-BANDWIDTH=\(average)",
            in: 0
        )
        let found = try lines(ladder).filter { $0.contains("twice") }
        #expect(found == (code.isEmpty ? [] : ["5 \(code)"]))
        // Audio alone has no such limit.
        let audio = ladder.replacing("avc1.64001E,", with: "", in: 0).replacing(",RESOLUTION=640x360", with: "", in: 0)
        #expect(try lines(audio).filter { $0.contains("twice") } == [])
    }

    @Test func iFrameVariantsHaveTheRequiredAttributes() throws {
        let base = Ladder()
        let frame = "BANDWIDTH=1,CODECS=\"avc1.640028\",RESOLUTION=640x360"
        #expect(try lines(base.frames()) == ["0 apple-no-i-frames"])
        #expect(try lines(base.frames(frame)) == ["13 apple-one-i-frame-playlist"])
        #expect(
            try lines(base.frames(frame, frame.replacing(",CODECS=\"avc1.640028\"", with: ""))) == [
                "14 apple-i-frame-without-codecs"
            ]
        )
        #expect(
            try lines(base.frames(frame, frame.replacing(",RESOLUTION=640x360", with: ""))) == [
                "14 apple-i-frame-without-resolution"
            ]
        )
        let hevc = frame.replacing("avc1.640028", with: "hvc1.2.4.L93.B0")
        #expect(try lines(base.frames(hevc, hevc)) == ["13 apple-i-frames-without-h264"])
        #expect(try lines(base.frames(hevc, frame)) == [])
        let bare = frame.replacing("avc1.640028", with: "")
        #expect(try lines(base.frames(bare, bare)) == [])
        let range = frame + ",VIDEO-RANGE=PQ"
        let ranged = base.replacingInAll("FRAME-RATE=30", with: "FRAME-RATE=30,VIDEO-RANGE=SDR")
        #expect(try lines(ranged.frames(range, range)) == ["13 apple-i-frames-without-sdr"])
        #expect(try lines(ranged.frames(range, frame + ",VIDEO-RANGE=SDR")) == [])
        #expect(try lines(ranged.frames(range, frame)) == ["14 apple-missing-video-range"])
        #expect(try lines(base.frames(range, frame + ",VIDEO-RANGE=SDR")) == ["5 apple-missing-video-range"])
        #expect(
            try lines(ranged.frames(range.replacing("PQ", with: "HLG"), range)) == ["13 apple-i-frames-without-sdr"]
        )
    }

    @Test func variantsDifferInBitRateAndShape() throws {
        let base = Ladder()
        // The bit rate of the first variant of an audio group is near 2,000,000 bits per second.
        func start(_ first: Int, _ other: Int) throws -> [String] {
            try lines(
                base.replacing(
                    "BANDWIDTH=2000000,AVERAGE-BANDWIDTH=1500000",
                    with: "BANDWIDTH=9999999,AVERAGE-BANDWIDTH=\(first)",
                    in: 0,
                    2
                )
                .replacing(
                    "BANDWIDTH=4000000,AVERAGE-BANDWIDTH=3000000",
                    with: "BANDWIDTH=8888888,AVERAGE-BANDWIDTH=\(other)",
                    in: 1,
                    3
                )
            ).filter { $0.contains("default") }
        }
        #expect(try start(3_000_000, 2_000_000) == [] && start(3_000_001, 2_000_000) == ["5 apple-default-variant"])
        #expect(try start(1_000_000, 2_000_000) == [] && start(999_999, 2_000_000) == ["5 apple-default-variant"])
        #expect(try start(4_000_000, 4_000_000) == [] && start(4_000_000, 3_999_999) == ["5 apple-default-variant"])
        #expect(try start(0, 4_000_000) == [])
        let groups = base.with([
            Ladder.low.replacing("1500000", with: "900000"), Ladder.high.replacing("\"a\"", with: "\"b\""),
        ])
        #expect(try lines(groups).contains("5 apple-default-variant") == false)
        #expect(try lines(base.with([Ladder.low, Ladder.low])) == ["5 apple-single-variant"])
        #expect(try lines(base.with([Ladder.low, Ladder.high])) == ["0 apple-no-failover"])
        #expect(
            try lines(
                base.with([Ladder.low, Ladder.high]).head(
                    "#EXT-X-INDEPENDENT-SEGMENTS\n#EXT-X-CONTENT-STEERING:SERVER-URI=\"s\"\n"
                )
            ) == ["3 apple-steering-without-pathway"]
        )
        #expect(
            try lines(
                base.with([Ladder.low, Ladder.high]).head(
                    "#EXT-X-INDEPENDENT-SEGMENTS\n#EXT-X-CONTENT-STEERING:SERVER-URI=\"s\",PATHWAY-ID=\".\"\n"
                )
            )
                == []
        )
        // Copies of a variant for another server have the same bit rate, codecs and resolution.
        #expect(try lines(base.with([Ladder.low, Ladder.high, Ladder.low])) == [])
        #expect(
            try lines(base.with([Ladder.low, Ladder.high, Ladder.low.replacing("640x360", with: "642x360")])) == [
                "0 apple-no-failover"
            ]
        )
        #expect(
            try lines(base.with([Ladder.low, Ladder.high, Ladder.low.replacing("64001E", with: "64001F")])) == [
                "0 apple-no-failover"
            ]
        )
        #expect(
            try lines(base.with([Ladder.low, Ladder.high, Ladder.low.replacing("=2000000", with: "=2000001")])) == [
                "0 apple-no-failover"
            ]
        )
        // Shapes may differ by two percent.
        #expect(try lines(base.replacing("640x360", with: "652x360", in: 0, 2)) == [])
        #expect(try lines(base.replacing("640x360", with: "653x360", in: 0, 2)) == ["0 apple-aspect-ratios-differ"])
        #expect(try lines(base.replacing("640x360", with: "627x360", in: 0, 2)) == ["0 apple-aspect-ratios-differ"])
        #expect(try lines(base.replacing("640x360", with: "640x0", in: 0, 2)) == [])
    }

    @Test(
        arguments: [
            (719, false, false), (720, false, true), (720, true, false), (1_080, false, true),
        ]
    )
    func theHighestResolutionHasSeveralVariants(height: Int, hasSecond: Bool, isReported: Bool) throws {
        let width = height * 16 / 9
        let top = Ladder.high.replacing("960x540", with: "\(width)x\(height)")
        let second = hasSecond ? top.replacing("=4000000", with: "=4000001") : Ladder.low
        let found = try lines(Ladder().with([Ladder.low, top, second])).filter { $0.contains("top") }
        #expect(found == (isReported ? ["0 apple-one-top-variant"] : []))
        let copies = Ladder().with([Ladder.low, top, top]).text.replacing("v2.m3u8", with: "v1.m3u8")
        #expect(try RuleFindings.lines(copies, [.apple]).contains("0 apple-one-top-variant") == (height >= 720))
        let same = Ladder().with([Ladder.low, top, top])
        #expect(try lines(same).contains("0 apple-one-top-variant") == false)
    }

    @Test(
        arguments: [
            (719, "", ""), (720, "", "apple-hd-without-hdcp"), (720, "TYPE-0", ""), (720, "TYPE-1", ""),
            (720, "NONE", "apple-hd-without-hdcp"),
            (1_080, "", "apple-hd-without-hdcp"), (1_080, "TYPE-0", ""), (1_081, "TYPE-0", "apple-uhd-without-hdcp"),
            (1_081, "TYPE-1", ""), (1_081, "", "apple-uhd-without-hdcp"), (2_160, "NONE", "apple-uhd-without-hdcp"),
        ]
    )
    func encryptedVideoHasOutputProtection(height: Int, level: String, code: String) throws {
        let resolution = "RESOLUTION=1280x\(height)" + (level.isEmpty ? "" : ",HDCP-LEVEL=\(level)")
        let ladder = Ladder().replacing("RESOLUTION=640x360", with: resolution, in: 0)
        let key = "#EXT-X-INDEPENDENT-SEGMENTS\n#EXT-X-SESSION-KEY:METHOD=SAMPLE-AES,URI=\"u\"\n"
        #expect(try lines(ladder.head(key)).filter { $0.contains("hdcp") } == (code.isEmpty ? [] : ["6 \(code)"]))
        #expect(try lines(ladder).filter { $0.contains("hdcp") } == [])
    }

    @Test func playlistsAreLoadedWithTLS() throws {
        let text = Ladder().text
        func found(_ old: String, _ new: String) throws -> [String] {
            try RuleFindings.lines(text.replacing(old, with: new), [.apple]).filter { $0.contains("tls") }
        }
        #expect(try found("v1.m3u8", "http://a/b") == ["7 apple-playlist-without-tls"])
        #expect(try found("v1.m3u8", "HTTP://a/b") == ["7 apple-playlist-without-tls"])
        #expect(try found("v1.m3u8", "https://a/b") == [])
        #expect(try found("URI=\"a\"", "URI=\"http://a\"") == ["3 apple-playlist-without-tls"])
        #expect(try found("URI=\"i\"", "URI=\"http://a\"") == ["13 apple-playlist-without-tls"])
    }

    // MARK: Renditions

    @Test(
        arguments: [
            ("TYPE=AUDIO,LANGUAGE=\"en\",URI=\"u\"", ""), ("TYPE=AUDIO,URI=\"u\"", "apple-missing-language"),
            ("TYPE=VIDEO", ""),
            ("URI=\"u\"", ""), ("TYPE=SUBTITLES,URI=\"u\"", "apple-missing-language"),
            (
                "TYPE=AUDIO,LANGUAGE=\"en\",URI=\"u\",CHARACTERISTICS=\"public.accessibility.describes-video\"",
                "apple-description-not-autoselect"
            ),
            (
                "TYPE=AUDIO,LANGUAGE=\"en\",URI=\"u\",AUTOSELECT=NO,CHARACTERISTICS=\"x,public.accessibility.describes-video\"",
                "apple-description-not-autoselect"
            ),
            (
                "TYPE=AUDIO,LANGUAGE=\"en\",URI=\"u\",AUTOSELECT=YES,CHARACTERISTICS=\"public.accessibility.describes-video\"",
                ""
            ),
            ("TYPE=SUBTITLES,LANGUAGE=\"en\",URI=\"u\",CHARACTERISTICS=\"public.accessibility.describes-video\"", ""),
            (
                "TYPE=AUDIO,LANGUAGE=\"en\",URI=\"u\",CHARACTERISTICS=\"public.accessibility.describes-music-and-sound\"",
                ""
            ),
            (
                "TYPE=SUBTITLES,LANGUAGE=\"en\",URI=\"u\",AUTOSELECT=YES,CHARACTERISTICS=\"public.accessibility.describes-music-and-sound\"",
                "apple-sdh-incomplete"
            ),
            (
                "TYPE=SUBTITLES,LANGUAGE=\"en\",URI=\"u\",CHARACTERISTICS=\"public.accessibility.describes-music-and-sound,"
                    + "public.accessibility.transcribes-spoken-dialog\"", "apple-sdh-not-autoselect"
            ),
            (
                "TYPE=SUBTITLES,LANGUAGE=\"en\",URI=\"u\",AUTOSELECT=YES,CHARACTERISTICS=\"public.accessibility.describes-music-and-sound,"
                    + "public.accessibility.transcribes-spoken-dialog\"", ""
            ),
            (
                "TYPE=SUBTITLES,LANGUAGE=\"en\",URI=\"u\",CHARACTERISTICS=\"public.accessibility.transcribes-spoken-dialog\"",
                ""
            ),
            ("TYPE=SUBTITLES,LANGUAGE=\"en\",URI=\"u\",FORCED=YES", "apple-forced-not-autoselect"),
            ("TYPE=SUBTITLES,LANGUAGE=\"en\",URI=\"u\",FORCED=YES,AUTOSELECT=YES", ""),
            ("TYPE=SUBTITLES,LANGUAGE=\"en\",URI=\"u\",FORCED=NO", ""),
            ("TYPE=AUDIO,LANGUAGE=\"en\",CHANNELS=\"2\"", ""),
            ("TYPE=AUDIO,LANGUAGE=\"en\",CHANNELS=\"3\"", "apple-multichannel-muxed"),
            ("TYPE=AUDIO,LANGUAGE=\"en\",CHANNELS=\"6/JOC\"", "apple-multichannel-muxed"),
            ("TYPE=AUDIO,LANGUAGE=\"en\",CHANNELS=\"x\"", ""),
            ("TYPE=AUDIO,LANGUAGE=\"en\",CHANNELS=\"99999999999999999999\"", "apple-multichannel-muxed"),
            ("TYPE=AUDIO,LANGUAGE=\"en\"", ""),
            ("TYPE=AUDIO,LANGUAGE=\"en\",CHANNELS=\"6\",URI=\"u\"", ""),
            ("TYPE=SUBTITLES,LANGUAGE=\"en\",CHANNELS=\"6\"", ""),
            ("TYPE=AUDIO,X", ""),
        ]
    )
    func renditionsAreSelectable(attributes: String, codes: String) throws {
        let text = RuleFindings.multivariant("#EXT-X-MEDIA:GROUP-ID=\"g\",NAME=\"n\",\(attributes)")
        let found = try RuleFindings.diagnostics(text, [.apple]).filter { $0.line == 2 }.map(\.code)
        #expect(found.joined(separator: " ") == codes)
    }

    @Test func audioIsNotMultiplexedWithVideo() throws {
        let base = Ladder()
        let audio = "TYPE=AUDIO,GROUP-ID=\"a\",LANGUAGE=\"en\",NAME="
        let captions = "TYPE=CLOSED-CAPTIONS,GROUP-ID=\"c\",NAME=\"n\",LANGUAGE=\"en\",INSTREAM-ID=\"CC1\""
        #expect(
            try lines(base.renditions("\(audio)\"x\",URI=\"u\"", "\(audio)\"y\"", captions)) == [
                "4 apple-alternative-audio-muxed"
            ]
        )
        #expect(try lines(base.renditions("\(audio)\"x\"", captions)) == [])
        #expect(
            try lines(
                base.renditions("\(audio)\"x\",URI=\"u\"", "\(audio)\"y\"".replacing("\"a\"", with: "\"b\""), captions)
            ) == []
        )
        #expect(try lines(base.renditions("\(audio)\"x\",URI=\"u\"")) == ["0 apple-no-captions"])
        #expect(
            try lines(
                base.renditions(
                    "\(audio)\"x\",URI=\"u\"",
                    "TYPE=SUBTITLES,GROUP-ID=\"s\",NAME=\"n\",LANGUAGE=\"en\",URI=\"s\""
                )
            ) == []
        )
        #expect(
            try lines(base.renditions("\(audio)\"x\",URI=\"u\"".replacing("\"a\"", with: "\"b\""), captions)).map {
                $0.dropFirst(2)
            }.contains("apple-muxed-audio")
        )
        #expect(
            try lines(base.replacing("AUDIO=\"a\"", with: "AUDIO=\"b\"", in: 0)) == ["0 apple-no-failover"].filter {
                _ in false
            } + ["5 apple-muxed-audio"]
        )
        let silent = base.replacing("AUDIO=\"a\"", with: "AUDIO=\"b\"", in: 0).replacing(",mp4a.40.2", with: "", in: 0)
        #expect(try lines(silent).contains("5 apple-muxed-audio") == false)
        let sound = base.replacing("AUDIO=\"a\"", with: "AUDIO=\"b\"", in: 0).replacing("avc1.64001E,", with: "", in: 0)
        #expect(try lines(sound).contains("5 apple-muxed-audio") == false)
        // Without video, alternatives may be in the variants.
        let audioOnly = base.replacingInAll("RESOLUTION=640x360,", with: "").replacingInAll(
            "RESOLUTION=960x540,",
            with: ""
        )
        .replacingInAll("avc1.64001E,", with: "").replacingInAll("avc1.64001F,", with: "").frames()
        #expect(try lines(audioOnly.renditions("\(audio)\"x\",URI=\"u\"", "\(audio)\"y\"").head("")) == [])
    }

    @Test func renditionsWithoutCharacteristicsComeFirst() throws {
        func found(_ rows: String...) throws -> [String] {
            let text = rows.map { "#EXT-X-MEDIA:TYPE=VIDEO,NAME=\"n\",\($0)" }.joined(separator: "\n")
            return try RuleFindings.lines(RuleFindings.multivariant(text), [.apple]).filter { $0.contains("order") }
        }
        let special = "GROUP-ID=\"g\",LANGUAGE=\"en\",CHARACTERISTICS=\"c\""
        #expect(try found(special, "GROUP-ID=\"g\",LANGUAGE=\"en\"") == ["3 apple-rendition-order"])
        #expect(try found("GROUP-ID=\"g\",LANGUAGE=\"en\"", special) == [])
        #expect(try found(special, "GROUP-ID=\"g\",LANGUAGE=\"de\"") == [])
        #expect(try found(special, "GROUP-ID=\"h\",LANGUAGE=\"en\"") == [])
        #expect(try found(special, special) == [])
        #expect(try found("GROUP-ID=\"g\",CHARACTERISTICS=\"c\"", "GROUP-ID=\"g\"") == [])
    }

    // MARK: Codecs

    @Test(
        arguments: [
            ("avc1.640034", ""), ("avc1.640035", "apple-h264-level"), ("avc1.65001E", "apple-h264-level"),
            ("avc1.63001E", "apple-h264-not-high"),
            ("avc3.64001E", "apple-in-band-parameters"), ("hvc1.2.4.L153.B0", ""),
            ("hvc1.2.4.L154.B0", "apple-hevc-level"),
            ("hvc1.3.4.L93", ""), ("hvc1.4.4.L93", "apple-hevc-level"), ("hvc1.5.4.L93", "apple-hevc-level"),
            ("hvc1.6.4.L93", ""),
            ("hvc1.8.4.L93", ""), ("hvc1.9.4.L93", "apple-hevc-level"), ("hvc1.10.4.L93", ""),
            ("hvc1.11.4.L93", "apple-hevc-level"), ("hvc1.12.4.L93", ""),
            ("hev1.2.4.L93.B0", "apple-in-band-parameters"), ("dvh1.08.07", ""),
            ("dvhe.08.07", "apple-in-band-parameters"), ("dav1.10.09", ""),
            ("mjpg", ""), ("vp09.00.10.08", "apple-video-codec"), ("mp4v.20.9", "apple-video-codec"),
            ("av01.0.18M.10", ""),
            ("av01.0.19M.10", "apple-av1-level"), ("av01.0.30H.10", "apple-av1-level"), ("av01.0.31M.10", ""),
            ("av01.0.190.10", ""),
            ("av01.0.19M", ""), ("av01.00.19M.10", ""), ("av01.x.19M.10", ""), ("av01.0.119M.10", ""),
            ("av01.0.1xM.10", ""),
            ("apac", "apple-apac-without-profile"), ("apac.31.00", ""), ("apac.31", "apple-apac-without-profile"),
            ("apac.31.00.1", "apple-apac-without-profile"), ("apac..00", "apple-apac-without-profile"),
            ("apac.31.", "apple-apac-without-profile"),
            ("apad", ""), ("wvtt", ""), ("vvc1.1.L51", "apple-video-codec"), ("dva1.1", "apple-video-codec"),
        ]
    )
    func codecsHaveSupportedLevels(codec: String, code: String) throws {
        let variant = Ladder.low.replacing("mp4a.40.2", with: "mp4a.40.2,\(codec)")
        var ladder = Ladder().with([Ladder.low, Ladder.high, Ladder.low, Ladder.high, variant])
        // High levels of HEVC need another variant, which is another rule.
        #expect(
            try lines(ladder).filter { $0 != "0 apple-no-compatible-hevc" } == (code.isEmpty ? [] : ["13 \(code)"])
        )
        ladder = Ladder().frames(
            Ladder().frames[0],
            Ladder().frames[1],
            Ladder().frames[0].replacing("avc1", with: "\(codec),avc1")
        )
        // I-frames may have any profile of H.264.
        #expect(try lines(ladder) == (code.isEmpty || code == "apple-h264-not-high" ? [] : ["15 \(code)"]))
    }

    @Test(
        arguments: [
            ("avc1.640029", ""), ("avc1.64002A", "5 apple-no-compatible-h264"), ("avc1.64002A,avc1.640029", ""),
            ("hvc1.2.4.L93.B0", "0 apple-no-h264"), ("hvc1.2.4.L120,avc1.640028", ""),
            ("hvc1.2.4.L121,avc1.640028", "0 apple-no-compatible-hevc"),
            ("hvc1.2.4.H93,avc1.640028", "0 apple-no-compatible-hevc"), ("hvc1.2.4.H93,hvc1.2.4.L93,avc1.640028", ""),
            ("avc1.64001E,ac-3", "0 apple-no-stereo-aac"), ("avc1.64001E,ac-3,mp4a.40.2", ""),
            ("avc1.64001E,mp4a.40.02", ""),
            ("avc1.64001E,mp4a.40.5", ""), ("avc1.64001E,mp4a.40.05", ""), ("avc1.64001E,mp4a.40.29", ""),
            ("avc1.64001E,mp4a.40.3", "0 apple-no-stereo-aac"),
            ("avc2.64001E,avc1.64001E,mp4a.40.2", ""),
        ]
    )
    func presentationsHaveCodecsForEachDevice(codecs: String, found: String) throws {
        let ladder = Ladder().replacingInAll("avc1.64001E,mp4a.40.2", with: codecs).replacingInAll(
            "avc1.64001F,mp4a.40.2",
            with: codecs
        )
        #expect(try lines(ladder) == (found.isEmpty ? [] : [found]))
    }

    @Test(
        arguments: [
            ("60", ""), ("60.001", "apple-frame-rate-too-high"), ("120", "apple-frame-rate-too-high"), ("x", ""),
        ]
    )
    func framesPerSecondAreLimited(rate: String, code: String) throws {
        let ladder = Ladder().replacing("FRAME-RATE=30", with: "FRAME-RATE=\(rate)", in: 0)
        #expect(try lines(ladder) == (code.isEmpty ? [] : ["5 \(code)"]))
        let immersive = ladder.replacing(
            "FRAME-RATE",
            with: "REQ-VIDEO-LAYOUT=\"CH-STEREO/PROJ-AIV\",FRAME-RATE",
            in: 0
        )
        #expect(try lines(immersive) == [])
    }

    @Test func dynamicRangesHaveAlternatives() throws {
        let base = Ladder()
        func ranged(_ low: String, _ high: String, _ rate: String = "30") -> Ladder {
            base.replacing("FRAME-RATE=30", with: "FRAME-RATE=\(rate),VIDEO-RANGE=\(low)", in: 0, 2)
                .replacing("FRAME-RATE=30", with: "FRAME-RATE=\(rate),VIDEO-RANGE=\(high)", in: 1, 3)
                .frames(base.frames[0] + ",VIDEO-RANGE=SDR", base.frames[1] + ",VIDEO-RANGE=SDR")
        }
        #expect(
            try lines(ranged("SDR", "PQ")) == [] && lines(ranged("SDR", "HLG")) == []
                && lines(ranged("SDR", "SDR")) == []
        )
        #expect(try lines(ranged("PQ", "HLG")) == ["5 apple-no-sdr"])
        #expect(try lines(ranged("SDR", "PQ", "30.001")) == ["7 apple-no-hdr-at-30"])
        #expect(try lines(ranged("SDR", "PQ").replacing("FRAME-RATE=30", with: "FRAME-RATE=60", in: 1)) == [])
        #expect(
            try lines(ranged("SDR", "PQ").replacing(",VIDEO-RANGE=SDR", with: "", in: 2)) == [
                "9 apple-missing-video-range"
            ]
        )
        #expect(try lines(ranged("SDR", "SDR").replacing(",VIDEO-RANGE=SDR", with: "", in: 2)) == [])
        let immersive = ranged("SDR", "PQ", "60").replacing(
            "FRAME-RATE",
            with: "REQ-VIDEO-LAYOUT=\"CH-STEREO/PROJ-AIV\",FRAME-RATE",
            in: 0
        )
        #expect(try lines(immersive) == [])
        // Video for headsets only needs no alternatives for other devices.
        let stereo = ranged("PQ", "PQ").replacingInAll("FRAME-RATE", with: "REQ-VIDEO-LAYOUT=\"CH-STEREO\",FRAME-RATE")
            .replacingInAll("avc1.64001E", with: "hvc1.2.4.H93").replacingInAll("avc1.64001F", with: "hvc1.2.4.H93")
            .replacingInAll("mp4a.40.2", with: "ac-3")
        let frame = "BANDWIDTH=1,CODECS=\"hvc1.2.4.L93\",RESOLUTION=640x360,VIDEO-RANGE=PQ"
        #expect(try lines(stereo.frames(frame, frame)) == [])
        let mixed = stereo.replacing("REQ-VIDEO-LAYOUT=\"CH-STEREO\",", with: "", in: 0).frames(frame, frame)
        #expect(
            try Set(lines(mixed).map { $0.split(separator: " ")[1] }) == [
                "apple-no-sdr", "apple-no-compatible-hevc", "apple-no-h264", "apple-no-stereo-aac",
                "apple-i-frames-without-sdr",
                "apple-i-frames-without-h264",
            ]
        )
    }

    @Test(
        arguments: [
            ("CH-STEREO/PROJ-AIV", ""), ("PROJ-AIV", "apple-immersive-not-stereo"),
            ("PROJ-AIV,PROJ-AIV", "apple-immersive-not-stereo"),
            ("CH-STEREO,PROJ-AIV", "apple-immersive-not-stereo"), ("CH-STEREO", ""), ("CH-MONO", ""),
        ]
    )
    func immersiveVideoIsStereoscopic(layout: String, code: String) throws {
        let ladder = Ladder().replacing("FRAME-RATE", with: "REQ-VIDEO-LAYOUT=\"\(layout)\",FRAME-RATE", in: 0)
        #expect(try lines(ladder) == (code.isEmpty ? [] : ["5 \(code)"]))
        let frames = Ladder().frames(Ladder().frames[0], Ladder().frames[1] + ",REQ-VIDEO-LAYOUT=\"\(layout)\"")
        #expect(try lines(frames) == (code.isEmpty ? [] : ["14 \(code)"]))
    }

    @Test(
        arguments: [
            ("15000000", "2160", ""), ("15000001", "2160", "apple-uhd-too-fast"), ("15000001", "2159", ""),
            ("99999999", "4320", "apple-uhd-too-fast"),
        ]
    )
    func ultraHighDefinitionHasAModerateBitRate(average: String, height: String, code: String) throws {
        let top =
            "BANDWIDTH=\(average),AVERAGE-BANDWIDTH=\(average),CODECS=\"avc1.640034,mp4a.40.2\",RESOLUTION=3840x\(height),FRAME-RATE=30,AUDIO=\"a\""
        func found(_ ladder: Ladder) throws -> [String] { try lines(ladder).filter { $0.contains("uhd") } }
        let ladder = Ladder().with([Ladder.low, top, top])
        #expect(try found(ladder) == (code.isEmpty ? [] : ["7 \(code)"]))
        #expect(try found(ladder.with([Ladder.low, top, top.replacing("=\(average)", with: "=15000000")])) == [])
        let immersive = Ladder.low.replacing("FRAME-RATE", with: "REQ-VIDEO-LAYOUT=\"CH-STEREO/PROJ-AIV\",FRAME-RATE")
        #expect(try found(ladder.with([immersive, top, top])) == [])
        let peak = top.replacing(",AVERAGE-BANDWIDTH=\(average)", with: "")
        #expect(try found(ladder.with([Ladder.low, peak])) == (code.isEmpty ? [] : ["7 \(code)"]))
    }
}
