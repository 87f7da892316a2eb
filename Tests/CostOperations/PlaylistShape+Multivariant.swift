extension PlaylistShape {
    /// The shapes of multivariant playlists, including hostile ones.
    package static var multivariant: [PlaylistShape] {
        [
            PlaylistShape("variants") { repeated($0, variant) + iFrames },
            PlaylistShape("variants-of-one-group") { count in
                rendition("AUDIO", "g", "E", "a.m3u8")
                    + repeated(count) { variant($0, "AUDIO=\"g\",SUBTITLES=\"none\"") }
            },
            PlaylistShape("variants-of-one-address") { repeated($0) { stream("BANDWIDTH=\($0 + 1)") + "v.m3u8\n" } },
            PlaylistShape("variants-of-one-size-and-rate") { repeated($0) { stream(size) + "\($0).m3u8\n" } },
            PlaylistShape("variants-without-address") { repeated($0) { _ in stream(size) } },
            PlaylistShape("variants-with-groups-of-their-own") { count in
                repeated(count) { rendition("AUDIO", "g\($0)", "E", "a\($0).m3u8") }
                    + repeated(count) { variant($0, "AUDIO=\"g\($0)\"") }
            },
            PlaylistShape("variants-and-renditions-of-one-group") { count in
                repeated(count) { rendition("AUDIO", "g", "E\($0)", "a\($0).m3u8") }
                    + repeated(count) { variant($0, "AUDIO=\"g\",VIDEO=\"g\"") }
            },
            PlaylistShape("addresses-without-variant") { repeated($0) { "\($0).m3u8\n" } },
            PlaylistShape("i-frame-variants") { repeated($0, iFrame) },
            PlaylistShape("renditions-of-one-name") { repeated($0) { _ in rendition("AUDIO", "g", "E", "a.m3u8") } },
            PlaylistShape("renditions-of-one-language") { count in
                repeated(count) {
                    rendition("SUBTITLES", "g", "E\($0)", "a\($0).m3u8", "LANGUAGE=\"en\",AUTOSELECT=YES,DEFAULT=YES")
                }
            },
            PlaylistShape("renditions-of-all-types") { count in
                repeated(count) { number in
                    ["AUDIO", "VIDEO", "SUBTITLES", "CLOSED-CAPTIONS", "OTHER"].map {
                        rendition($0, "g\(number % 7)", "E\(number)", "\(number).m3u8")
                    }.joined()
                }
            },
            PlaylistShape("renditions-with-one-stable-id") { count in
                repeated(count) { rendition("AUDIO", "g\($0)", "E", "a.m3u8", "STABLE-RENDITION-ID=\"\($0)\"") }
            },
            PlaylistShape("renditions-of-special-interest") { count in
                repeated(count) {
                    rendition("AUDIO", "g", "E\($0)", "a\($0).m3u8", "LANGUAGE=\"en\",CHARACTERISTICS=\"public.x\"")
                } + repeated(count) { rendition("AUDIO", "g", "F\($0)", "b\($0).m3u8", "LANGUAGE=\"en\"") }
            },
            PlaylistShape("session-data-of-one-id") { count in
                repeated(count) { _ in "#EXT-X-SESSION-DATA:DATA-ID=\"com.x\",VALUE=\"y\"\n" } + variant(1)
            },
            PlaylistShape("session-keys-alike") { count in
                repeated(count) { _ in "#EXT-X-SESSION-KEY:METHOD=SAMPLE-AES,URI=\"k\"\n" } + variant(1)
            },
            PlaylistShape("steering-repeated") { count in
                repeated(count) { "#EXT-X-CONTENT-STEERING:SERVER-URI=\"s\",PATHWAY-ID=\"p\($0)\"\n" }
                    + repeated(count) { variant($0, "PATHWAY-ID=\"q\($0)\"") }
            },
            PlaylistShape("variables") { count in
                repeated(count) { "#EXT-X-DEFINE:NAME=\"v\($0)\",VALUE=\"x\"\n" }
                    + repeated(count) { variant($0, "NAME=\"{$v\($0)}\"") }
            },
            PlaylistShape("variables-of-one-name") { count in
                repeated(count) { _ in "#EXT-X-DEFINE:NAME=\"v\",VALUE=\"x\"\n" } + variant(1)
            },
            PlaylistShape("variables-not-defined") { repeated($0) { variant($0, "NAME=\"{$v\($0)}{$w}\"") } },
            PlaylistShape("variables-from-a-long-query") { count in
                repeated(count) { "#EXT-X-DEFINE:QUERYPARAM=\"p\($0)\"\n" } + variant(1)
            },
            PlaylistShape("long-variable-not-used") { count in
                "#EXT-X-DEFINE:NAME=\"v\",VALUE=\"\(String(repeating: "x", count: 8 * count))\"\n"
                    + repeated(count, variant)
            },
            PlaylistShape("attributes-in-one-line") { count in
                stream(size + repeated(count) { ",X-A\($0)=\"{$v}\"" }) + "v.m3u8\n"
            },
            PlaylistShape("attributes-of-one-name") { count in
                stream(size + repeated(count) { _ in ",NAME=\"x\"" }) + "v.m3u8\n"
            },
            PlaylistShape("lists-in-attributes") { count in
                let list = repeated(count) { "a\($0),avc3.4d401e,hvc1.2.4.L153," }
                return stream(
                    "CODECS=\"\(list)\",SUPPLEMENTAL-CODECS=\"\(list)\",ALLOWED-CPC=\"\(list)\",REQ-VIDEO-LAYOUT=\"\(list)\""
                ) + "v.m3u8\n" + rendition("AUDIO", "g", "E", "a", "CHARACTERISTICS=\"\(list)\",CHANNELS=\"2/\(list)\"")
            },
            PlaylistShape("slashes-in-attributes") { count in
                let list = repeated(count) { "CH-\($0)/" }
                return stream("REQ-VIDEO-LAYOUT=\"\(list)\",ALLOWED-CPC=\"x:\(list)\"") + "v.m3u8\n"
            },
            PlaylistShape("language-with-many-subtags") { count in
                rendition("AUDIO", "g", "E", "a", "LANGUAGE=\"en\(repeated(count) { _ in "-abcde" })\"")
            },
            PlaylistShape("openings-of-references") { count in
                "#EXT-X-DEFINE:NAME=\"v\",VALUE=\"x\"\n" + stream("NAME=\"\(repeated(count) { _ in "{$" })}\"")
                    + "v.m3u8\n"
            },
            PlaylistShape("combining-characters") { count in
                rendition("AUDIO", "g", "e" + repeated(4 * count) { _ in "\u{301}" }, "a")
            },
            PlaylistShape("unknown-tags") { repeated($0) { "#EXT-X-OTHER-\($0):A=1,B=\"2\"\n" } + variant(1) },
            PlaylistShape("tags-of-both-kinds") { count in
                variant(1) + repeated(count) { "#EXT-X-KEY:METHOD=NONE\n#EXTINF:1,\n\($0).ts\n" }
            },
            PlaylistShape("header-tags-repeated") { count in
                repeated(count) {
                    "#EXTM3U\n#EXT-X-VERSION:\($0)\n#EXT-X-INDEPENDENT-SEGMENTS\n#EXT-X-START:TIME-OFFSET=\($0)\n"
                } + variant(1)
            },
            PlaylistShape("bad-lines") { count in
                repeated(count) { " #EXT-X-MEDIA : TYPE = AUDIO ,,=,\u{1}\t\n\t \($0) a\r#EXT-X-STREAM-INF\n" }
            },
        ]
    }

    private static let size = "BANDWIDTH=1000000,RESOLUTION=640x360"
    private static let iFrames = iFrame(0) + iFrame(1)

    private static func stream(_ attributes: String) -> String { "#EXT-X-STREAM-INF:\(attributes)\n" }

    package static func variant(_ number: Int) -> String { variant(number, "SCORE=\(number)") }

    private static func variant(_ number: Int, _ attributes: String) -> String {
        stream(
            "BANDWIDTH=\(500_000 + 1_000 * number),AVERAGE-BANDWIDTH=400000,CODECS=\"avc1.4d401e,mp4a.40.2\","
                + "RESOLUTION=\(640 + number)x\(360 + number % 5),FRAME-RATE=25.000,\(attributes)"
        ) + "v\(number).m3u8\n"
    }

    private static func iFrame(_ number: Int) -> String {
        "#EXT-X-I-FRAME-STREAM-INF:BANDWIDTH=\(1_000 * number),RESOLUTION=640x\(360 + number),URI=\"i\(number).m3u8\"\n"
    }

    private static func rendition(
        _ type: String,
        _ group: String,
        _ name: String,
        _ uri: String,
        _ more: String = "CHANNELS=\"2\""
    ) -> String {
        "#EXT-X-MEDIA:TYPE=\(type),GROUP-ID=\"\(group)\",NAME=\"\(name)\",URI=\"\(uri)\",\(more)\n"
    }
}
