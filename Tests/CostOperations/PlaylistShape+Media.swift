extension PlaylistShape {
    /// The shapes of media playlists, including hostile ones.
    package static var media: [PlaylistShape] {
        [
            PlaylistShape("segments") { header + repeated($0, segment) + end },
            PlaylistShape("everything-on-demand") { count in
                header
                    + repeated(count) { number in
                        let date = "#EXT-X-PROGRAM-DATE-TIME:\(date(number))\n"
                        return "#EXT-X-DISCONTINUITY\n#EXT-X-KEY:METHOD=AES-128,URI=\"k\(number)\"\n"
                            + "#EXT-X-MAP:URI=\"m.mp4\",BYTERANGE=\"10@\(number)\"\n"
                            + date + "#EXT-X-BITRATE:800\n#EXT-X-BYTERANGE:100@\(100 * number)\n"
                            + "#EXT-X-DATERANGE:ID=\"d\(number)\",START-DATE=\"\(Self.date(number))\"\n"
                            + segment(number)
                    } + end
            },
            PlaylistShape("one-key-without-vector") { count in
                header + "#EXT-X-KEY:METHOD=AES-128,URI=\"k\"\n" + repeated(count, segment) + end
            },
            PlaylistShape("one-long-key-and-many-short-ones") { count in
                header + "#EXT-X-KEY:METHOD=AES-128,KEYFORMAT=\"long\",URI=\"\(long(count))\"\n"
                    + repeated(count) {
                        "#EXT-X-KEY:METHOD=AES-128,KEYFORMAT=\"f\($0 % 3)\",URI=\"k\"\n#EXT-X-MAP:URI=\"m\"\n"
                            + segment($0)
                    } + end
            },
            PlaylistShape("long-keys-of-many-formats-and-many-short-ones") { count in
                header
                    + repeated(8) { "#EXT-X-KEY:METHOD=SAMPLE-AES,KEYFORMAT=\"f\($0)\",URI=\"\(long(count))\"\n" }
                    + "#EXT-X-MAP:URI=\"\(long(count))\"\n"
                    + repeated(count) {
                        "#EXT-X-KEY:METHOD=SAMPLE-AES,KEYFORMAT=\"own\",URI=\"k\"\n" + segment($0)
                    } + end
            },
            PlaylistShape("one-long-map") { count in
                header + "#EXT-X-MAP:URI=\"\(long(count))\"\n" + repeated(count, segment) + end
            },
            PlaylistShape("one-long-map-without-address") { count in
                header + "#EXT-X-MAP:X=\"\(long(count))\"\n" + repeated(count, segment) + end
            },
            PlaylistShape("long-bit-rate") { count in
                header + "#EXT-X-BITRATE:\(String(repeating: "9", count: 32 * count))\n" + repeated(count, segment)
                    + end
            },
            PlaylistShape("long-date") { count in
                header + "#EXT-X-PROGRAM-DATE-TIME:\(long(count))\n" + repeated(count, segment) + end
            },
            PlaylistShape("dates-that-cannot-be-read") { count in
                header + repeated(count) { "#EXT-X-PROGRAM-DATE-TIME:now\n#EXT-X-BITRATE:fast\n" + segment($0) } + end
            },
            PlaylistShape("dates-of-one-segment") { count in
                header + repeated(count) { "#EXT-X-PROGRAM-DATE-TIME:\(date($0))\n#EXT-X-BITRATE:\($0)\n" } + segment(1)
            },
            PlaylistShape("keys-of-one-segment") { count in
                header + repeated(count) { "#EXT-X-KEY:METHOD=AES-128,KEYFORMAT=\"f\($0)\",URI=\"k\"\n" } + segment(1)
            },
            PlaylistShape("keys-of-one-format-before-one-segment") { count in
                header + repeated(count) { _ in "#EXT-X-KEY:METHOD=AES-128,URI=\"k\"\n" } + segment(1)
            },
            PlaylistShape("byte-ranges-without-offset") { count in
                header + "#EXT-X-BYTERANGE:10@0\n#EXTINF:4,\na.ts\n"
                    + repeated(count) { _ in "#EXT-X-BYTERANGE:10\n#EXTINF:4,\na.ts\n" } + end
            },
            PlaylistShape("parts-without-part-inf") { count in
                header + repeated(count) { "#EXT-X-PART:DURATION=1,URI=\"p\($0)\"\n" + segment($0) }
            },
            PlaylistShape("parts-without-offset") { count in
                header + "#EXT-X-PART-INF:PART-TARGET=1\n"
                    + repeated(count) { "#EXT-X-PART:DURATION=1,URI=\"p\",BYTERANGE=\"10\"\n" + segment($0) }
            },
            PlaylistShape("parts-of-one-segment") { count in
                header + repeated(count) { "#EXT-X-PART:DURATION=1,URI=\"p\",BYTERANGE=\"\($0)\"\n" } + segment(1)
            },
            PlaylistShape("parts-behind-the-end") { count in
                header + segment(1) + repeated(count) { "#EXT-X-PART:DURATION=1,URI=\"p\($0)\",BYTERANGE=\"10\"\n" }
            },
            PlaylistShape("hints-and-reports") { count in
                header + segment(1)
                    + repeated(count) {
                        "#EXT-X-PRELOAD-HINT:TYPE=PART,URI=\"p\($0)\"\n"
                            + "#EXT-X-RENDITION-REPORT:URI=\"r\($0)\",LAST-MSN=1\n"
                    }
            },
            PlaylistShape("preload-hints-of-unknown-type") { count in
                header + repeated(count) { _ in "#EXT-X-PRELOAD-HINT:TYPE=\"xxxxxxxxxxxxxxxxxxxxxxxx\"\n" }
            },
            PlaylistShape("date-ranges-of-one-id") { count in
                header + segment(1) + repeated(count) { "#EXT-X-DATERANGE:ID=\"d\",X-A\($0)=\"x\"\n" }
            },
            PlaylistShape("date-ranges-of-one-class") { count in
                header + segment(1)
                    + repeated(count) {
                        "#EXT-X-DATERANGE:ID=\"d\($0)\",CLASS=\"c\",START-DATE=\"\(date($0))\",END-ON-NEXT=YES,DURATION=60\n"
                    }
            },
            PlaylistShape("interstitials") { count in
                header + segment(1)
                    + repeated(count) {
                        "#EXT-X-DATERANGE:ID=\"d\($0)\",CLASS=\"com.apple.hls.interstitial\",START-DATE=\"\(date($0))\","
                            + "X-ASSET-URI=\"a.m3u8?_HLS_x=1\",X-SNAP=\"IN,OUT\",CUE=\"PRE,POST\"\n"
                    }
            },
            PlaylistShape("preloads-of-one-target") { count in
                header + segment(1)
                    + repeated(count) {
                        "#EXT-X-DATERANGE:ID=\"d\($0)\",CLASS=\"com.apple.hls.preload\",START-DATE=\"\(date($0))\","
                            + "X-URI=\"u\",X-TARGET-ID=\"d0\",X-TARGET-CLASS=\"c\"\n"
                    }
            },
            PlaylistShape("variables-imported") { count in
                header + repeated(count) { "#EXT-X-DEFINE:IMPORT=\"v\($0)\"\n" }
                    + repeated(count) { "#EXTINF:4,\n{$v\($0)}\n" }
            },
            PlaylistShape("variables-from-a-long-query") { count in
                header + repeated(count) { "#EXT-X-DEFINE:QUERYPARAM=\"p\($0)\"\n" } + segment(1)
            },
            PlaylistShape("openings-of-references-in-an-address") { count in
                header + "#EXT-X-DEFINE:NAME=\"a\",VALUE=\"b\"\n#EXTINF:1,\n\(repeated(8 * count) { _ in "{$" })\n"
            },
            PlaylistShape("openings-of-references-in-a-date-range") { count in
                header + "#EXT-X-DEFINE:NAME=\"a\",VALUE=\"b\"\n"
                    + "#EXT-X-DATERANGE:ID=\"\(repeated(8 * count) { _ in "{$" })\"\n"
            },
            PlaylistShape("durations-of-growing-precision") { count in
                header + repeated(count) { "#EXTINF:1.\(String(repeating: "1", count: $0 % 12 + 1)),\n\($0).ts\n" }
                    + end
            },
            PlaylistShape("gaps-and-discontinuities") { count in
                header + repeated(count) { "#EXT-X-GAP\n#EXT-X-DISCONTINUITY\n" + segment($0) } + end
            },
            PlaylistShape("addresses-without-extinf") { header + repeated($0) { "\($0).ts\n" } },
            PlaylistShape("extinf-without-address") { header + repeated($0) { _ in "#EXTINF:4,\n" } },
            PlaylistShape("comments-and-blank-lines") { header + repeated($0) { "# \($0)\n\n \n" } + segment(1) },
            PlaylistShape("lone-returns") { count in
                repeated(count) { "#EXTINF:4,\r\($0).ts\r" }
            },
            PlaylistShape("returns-only") { count in String(repeating: "\r", count: 32 * count) },
            PlaylistShape("commas-only") { count in header + String(repeating: ",", count: 32 * count) },
            PlaylistShape("unknown-tags") { header + repeated($0) { "#EXT-X-CUE-OUT-CONT:\($0)/30\n" + segment($0) } },
            PlaylistShape("header-tags-repeated") { count in
                repeated(count) {
                    "#EXT-X-TARGETDURATION:\($0)\n#EXT-X-MEDIA-SEQUENCE:\($0)\n#EXT-X-DISCONTINUITY-SEQUENCE:\($0)\n"
                        + "#EXT-X-PLAYLIST-TYPE:VOD\n#EXT-X-SERVER-CONTROL:CAN-SKIP-UNTIL=\($0)\n#EXT-X-ENDLIST\n"
                        + "#EXT-X-PART-INF:PART-TARGET=1\n#EXT-X-SKIP:SKIPPED-SEGMENTS=1\n#EXT-X-I-FRAMES-ONLY\n"
                } + segment(1)
            },
            PlaylistShape("tags-of-both-kinds") { count in
                header + repeated(count) { "#EXT-X-STREAM-INF:BANDWIDTH=1\n\($0).m3u8\n" + segment($0) }
            },
            PlaylistShape("bad-lines") { count in
                header
                    + repeated(count) { " #EXTINF : 4 \u{1},\t\n#EXT-X-KEY:METHOD=,\"\n#EXT-X-BYTERANGE:x\n a \($0)\n" }
            },
        ]
    }

    package static let header = "#EXT-X-VERSION:6\n#EXT-X-TARGETDURATION:4\n"
    package static let end = "#EXT-X-ENDLIST\n"

    package static func segment(_ number: Int) -> String { "#EXTINF:4.000,\ns\(number).ts\n" }

    package static func date(_ number: Int) -> String {
        let (minutes, seconds) = (number / 15 % 60, number % 15 * 4)
        return "2024-01-01T\(pair(number / 900 % 24)):\(pair(minutes)):\(pair(seconds)).000Z"
    }

    private static func pair(_ number: Int) -> String { number < 10 ? "0\(number)" : "\(number)" }

    /// Returns a text that is about as long as the rest of the playlist.
    private static func long(_ count: Int) -> String { String(repeating: "x", count: 32 * count) }
}
