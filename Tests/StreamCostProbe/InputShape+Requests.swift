import CostOperations

extension InputShape {
    /// The shapes of requests to the server, of signed addresses, of bodies, and of what is stored on disk.
    static var serverRequests: [InputShape] { heads + addresses + bodies + state }

    private static func head(_ name: String, _ fields: @escaping (Int) -> String) -> InputShape {
        InputShape("request-heads", name) { count in
            "/play.m3u8?url=https%3A%2F%2Fh%2Fa.m3u8\nHost: media.example\n" + fields(count) + "\n"
        }
    }

    private static var heads: [InputShape] {
        [
            head("header-fields") { repeated($0) { "X-\($0): v\n" } },
            head("forwarded-clients") { count in
                "X-Forwarded-For: " + repeated(count) { "10.0.\($0 / 256).\($0 % 256), " } + "10.0.0.1"
            },
            head("clients-that-are-no-addresses") { "X-Forwarded-For: " + repeated($0) { "a\($0), " } + "10.0.0.1" },
            head("forwarded-elements") { count in
                "Forwarded: " + repeated(count) { _ in "for=10.0.0.1;proto=http, " } + "for=10.0.0.1"
            },
            head("quotation-marks") { "Forwarded: for=" + String(repeating: "\"", count: 16 * $0) },
            head("encodings") { "Accept-Encoding: " + repeated($0) { "x-\($0);q=0.5, " } + "gzip" },
            head("long-origin") { "Origin: https://" + String(repeating: "a.", count: 16 * $0) + "example" },
            head("long-referrer") { "Referer: https://h/" + String(repeating: "a/../", count: 16 * $0) },
            InputShape("request-heads", "components-of-a-path") { String(repeating: "/a%20", count: 16 * $0) + "\n" },
            InputShape("request-heads", "percent-signs-of-a-path") { count in
                "/" + String(repeating: "%2e%", count: 16 * count) + "\n"
            },
            InputShape("request-heads", "long-host") { "/\nHost: " + String(repeating: "a.", count: 16 * $0) + "\n" },
        ]
    }

    private static var addresses: [InputShape] {
        [
            InputShape("segment-addresses", "long-url") { "https://h/" + String(repeating: "a/", count: 16 * $0) },
            InputShape("segment-addresses", "parts-that-go-up") { count in
                "https://h/" + String(repeating: "%2e%2e/", count: 8 * count)
            },
            InputShape("segment-addresses", "parameters") { "https://h/a.ts\n" + repeated($0) { "p\($0)=1&" } + "p=1" },
            InputShape("segment-addresses", "parameters-of-one-name") { count in
                "https://h/a.ts\n" + repeated(count) { "conditions=\($0)&" } + "p=1"
            },
            InputShape("segment-addresses", "separators") { count in
                "https://h/a.ts\n" + String(repeating: "&", count: 16 * count)
            },
        ]
    }

    private static var bodies: [InputShape] {
        [
            InputShape("api-bodies", "faults", size: 4) { count in
                "{\"faults\":[" + repeated(count) { "\"path=*\($0)&delay=1\"," } + "\"delay=1\"]}"
            },
            InputShape("api-bodies", "faults-beyond-the-limit") { count in
                "{\"faults\":[" + repeated(count) { _ in "\"delay=1\"," } + "\"delay=1\"]}"
            },
            InputShape("api-bodies", "other-members") { count in
                "{\"url\":\"https://h/a\"" + repeated(count) { ",\"x\($0)\":[\($0)]" } + "}"
            },
            InputShape("api-bodies", "long-title") { count in
                "{\"url\":\"https://h/a\",\"title\":\"" + String(repeating: "x ", count: 32 * count) + "\"}"
            },
            InputShape("api-bodies", "long-message") { count in
                "{\"error\":{\"message\":\"" + String(repeating: "\\u00e9 ", count: 8 * count) + "\"}}"
            },
            InputShape("api-bodies", "arrays-in-arrays", size: 60) { count in
                "{\"x\":" + String(repeating: "[", count: count) + String(repeating: "]", count: count) + "}"
            },
        ]
    }

    private static var state: [InputShape] {
        [
            InputShape("stored-state", "zeros") { [UInt8](repeating: 0, count: 64 * $0) },
            InputShape("stored-state", "selections", size: 40) { count in
                "{\"selections\":[" + repeated(count) { "\"max-height=\($0 + 1)&audio=all\"," }
                    + "\"audio=all\"],\"fetches\":6}"
            },
            InputShape("stored-state", "long-selection", size: 40) { count in
                "{\"selections\":[\"audio=" + repeated(16 * count) { _ in "en," } + "fr\"],\"fetches\":6}"
            },
            InputShape("stored-state", "other-members") { count in
                "{\"fetches\":6" + repeated(count) { ",\"x\($0)\":[\($0)]" } + "}"
            },
            InputShape("stored-state", "long-path") { count in
                "{\"path\":\"/" + String(repeating: "a/", count: 32 * count) + "\",\"count\":1,\"checksum\":1}"
            },
        ]
    }
}
