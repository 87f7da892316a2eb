import CostOperations
import FuzzTargets
import StreamFuzzTargets

extension CostOperation {
    /// The operations that parse text from the network, with the worst inputs of each format.
    static var networkTexts: [CostOperation] {
        let shapes =
            InputShape.cookies + InputShape.catalogs + InputShape.requests + InputShape.responses + InputShape.services
            + InputShape.serverRequests
        return shapes.map { shape in
            CostOperation("network/\(shape.reader)/\(shape.name)", size: shape.size) { count in
                guard let target = FuzzTarget.streams.first(where: { $0.name == shape.reader }) else {
                    fatalError("there is no reader \(shape.reader)")
                }
                let bytes = shape.bytes(count)
                return { target.run(bytes) }
            }
        }
    }
}

extension InputShape {
    fileprivate static var cookies: [InputShape] {
        let from = "https://www.example.com/a/b\n"
        return [
            InputShape("cookies", "of-one-name", size: 60) { from + repeated($0) { "c=\($0); Path=/\n" } },
            InputShape("cookies", "attributes-of-one-cookie") { from + "c=v" + repeated($0) { "; a\($0)=b" } + "\n" },
            InputShape("cookies", "dates-of-one-cookie") { count in
                from + "c=v" + repeated(count) { _ in "; Expires=Wed, 09 Jun 2021 10:18:14 GMT" } + "\n"
            },
            InputShape("cookies", "long-value") { from + "c=" + String(repeating: "x", count: 64 * $0) + "\n" },
            InputShape("cookies", "long-date") {
                from + "c=v; Expires=" + String(repeating: "1 ", count: 64 * $0) + "\n"
            },
            InputShape("cookies", "spaces") { from + "c=v" + String(repeating: " ", count: 64 * $0) + "; a\n" },
            InputShape("cookies", "long-host") { count in
                "https://" + repeated(count) { _ in "a." } + "example.com/\n" + repeated(4) { "c\($0)=v\n" }
            },
            InputShape("cookie-files", "cookies-of-many-domains") { count in
                repeated(count) { "h\($0).example.com\tFALSE\t/\tFALSE\t0\tname\tvalue\n" }
            },
            InputShape("cookie-files", "cookies-of-one-name") { count in
                repeated(count) { "www.example.com\tFALSE\t/\tFALSE\t0\tname\t\($0)\n" }
            },
            InputShape("cookie-files", "comments") { repeated($0) { "# \($0)\n" } },
            InputShape("cookie-files", "tabs-of-one-line") { String(repeating: "\t", count: 64 * $0) + "\n" },
        ]
    }

    fileprivate static var catalogs: [InputShape] {
        [
            InputShape("catalogs", "streams") { count in
                "[" + repeated(count) { "{\"name\":\"n\($0)\",\"url\":\"a\($0).m3u8\"}," }
                    + "{\"name\":\"n\",\"url\":\"a\"}]"
            },
            InputShape("catalogs", "streams-of-one-name") { count in
                "[" + repeated(count) { _ in "{\"name\":\"n\",\"url\":\"a.m3u8\"}," }
                    + "{\"name\":\"n\",\"url\":\"a\"}]"
            },
            InputShape("catalogs", "fields-of-one-stream") { count in
                "[{\"name\":\"n\",\"url\":\"a\",\"headers\":{" + repeated(count) { "\"X-\($0)\":\"v\"," }
                    + "\"X\":\"v\"}}]"
            },
            InputShape("catalogs", "scopes-of-one-stream") { count in
                "[{\"name\":\"n\",\"url\":\"a\",\"headersFor\":{" + repeated(count) { "\"h\($0)\":{\"X\":\"v\"}," }
                    + "\"h\":{\"X\":\"v\"}}}]"
            },
            InputShape("catalogs", "arrays-in-arrays") { count in
                String(repeating: "[", count: 2 * count) + String(repeating: "]", count: 2 * count)
            },
            InputShape("catalogs", "long-name") { count in
                "[{\"name\":\"\(String(repeating: "x ", count: 64 * count))\",\"url\":\"a\"}]"
            },
            InputShape("catalogs", "property-list") { count in
                "<?xml version=\"1.0\"?><plist version=\"1.0\"><dict><key>Streams</key><array>"
                    + repeated(count) {
                        "<dict><key>name</key><string>n\($0)</string><key>playlist_url</key><string>https://h/a</string></dict>"
                    } + "</array></dict></plist>"
            },
            InputShape("asset-lists", "assets", size: 20) { count in
                "{\"ASSETS\":[" + repeated(count) { "{\"URI\":\"a\($0).m3u8\",\"DURATION\":15.5}," }
                    + "{\"URI\":\"a\"}]}"
            },
            InputShape("asset-lists", "assets-beyond-the-limit") { count in
                "{\"ASSETS\":[" + repeated(count) { _ in "{\"URI\":\"a.m3u8\"}," } + "{\"URI\":\"a\"}]}"
            },
            InputShape("asset-lists", "other-members") { count in
                "{\"ASSETS\":[]" + repeated(count) { ",\"X-\($0)\":[\($0)]" } + "}"
            },
        ]
    }

    fileprivate static var requests: [InputShape] {
        let source = "url=https%3A%2F%2Fh%2Fa.m3u8"
        return [
            InputShape("queries", "variables") { source + repeated($0) { "&define=v\($0)=w" } },
            InputShape("queries", "variables-of-one-name") { source + repeated($0) { "&define=v=\($0)" } },
            InputShape("queries", "directives") { source + repeated($0) { "&_HLS_msn=\($0)" } },
            InputShape("queries", "edits", size: 8) { source + repeated($0) { _ in "&start=1" } },
            InputShape("queries", "edits-beyond-the-limit") { source + repeated($0) { _ in "&append=gap:5" } },
            InputShape("queries", "unknown-items") { repeated($0) { "a\($0)=b&" } + source },
            InputShape("queries", "long-address") { source + String(repeating: "%20", count: 32 * $0) },
            InputShape("queries", "long-query-of-the-address") {
                source + "%3F" + String(repeating: "a%3Db%26", count: 16 * $0)
            },
            InputShape("queries", "separators") { source + String(repeating: "&", count: 64 * $0) },
            InputShape("ranges", "digits") { "bytes=0-" + String(repeating: "9", count: 64 * $0) },
            InputShape("ranges", "ranges-of-one-field") { "bytes=" + repeated($0) { "\($0)-\($0 + 1)," } },
        ]
    }

    fileprivate static var responses: [InputShape] {
        [
            InputShape("http-fields", "digits") { "bytes 0-99/" + String(repeating: "9", count: 64 * $0) },
            InputShape("http-fields", "long-name") { String(repeating: "a", count: 64 * $0) + ": b" },
            InputShape("http-fields", "spaces-of-a-date") { String(repeating: " ", count: 64 * $0) + "GMT" },
            InputShape("http-fields", "separators") { String(repeating: "/-:, ", count: 16 * $0) },
            InputShape("http-cache", "directives-of-one-field") {
                "Cache-Control: " + repeated($0) { "x-\($0)=1, " } + "max-age=60"
            },
            InputShape("http-cache", "directives-of-one-name") {
                "Cache-Control: " + repeated($0) { _ in "max-age=60, " }
            },
            InputShape("http-cache", "quotation-marks") {
                "Cache-Control: x=" + String(repeating: "\"", count: 16 * $0)
            },
            InputShape("http-cache", "names-of-varying-fields") {
                "Cache-Control: max-age=60\nVary: " + repeated($0) { "x-\($0), " }
            },
            InputShape("data-addresses", "base64") { "text/plain;base64," + String(repeating: "QUFB", count: 16 * $0) },
            InputShape("data-addresses", "percent-signs") { "text/plain," + String(repeating: "%41%", count: 16 * $0) },
            InputShape("data-addresses", "parameters") {
                "text/plain" + String(repeating: ";a=b", count: 16 * $0) + ",x"
            },
            InputShape("data-addresses", "bytes-that-are-no-base64") {
                ";base64," + String(repeating: "=", count: 64 * $0)
            },
        ]
    }
}
