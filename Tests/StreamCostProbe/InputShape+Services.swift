import CostOperations

extension InputShape {
    /// The shapes of images, responses with tokens, steering manifests and simulated faults.
    static var services: [InputShape] { artwork + tokens + steering + faults }

    // MARK: Images

    /// Returns a JPEG image without a frame header, which is therefore read to its end.
    private static func jpeg(_ segments: [UInt8]) -> [UInt8] { [0xFF, 0xD8, 0xFF, 0xE0, 0, 2] + segments }

    private static func pngChunk(_ type: String, _ content: [UInt8]) -> [UInt8] {
        bytes(of: content.count) + Array(type.utf8) + content + [0, 0, 0, 0]
    }

    /// Returns the bytes of a length, of which the first is the most significant.
    private static func bytes(of length: Int) -> [UInt8] {
        [24, 16, 8, 0].map { UInt8(truncatingIfNeeded: length >> $0) }
    }

    private static var artwork: [InputShape] {
        // The header declares a height and a width of 0.
        let emptyFrame: [UInt8] = [0xFF, 0xC0, 0, 9, 8, 0, 0, 0, 0, 1, 0]
        let signature: [UInt8] = [0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A]
        let header = pngChunk("IHDR", [0, 0, 0, 1, 0, 0, 0, 1, 8, 2, 0, 0, 0])
        let extended: [UInt8] =
            Array("RIFF".utf8) + [0, 0, 0, 0] + Array("WEBPVP8X".utf8) + [10, 0, 0, 0] + zeros(10)
        return [
            InputShape("artwork", "segments-of-a-jpeg-image") { count in
                jpeg(repeatedBytes(count) { [0xFF, 0xE1, 0, 4, UInt8(truncatingIfNeeded: $0), 0] })
            },
            InputShape("artwork", "empty-segments-of-a-jpeg-image") { count in
                jpeg(repeatedBytes(count) { _ in [0xFF, 0xFE, 0, 2] })
            },
            InputShape("artwork", "markers-without-parameters") { count in
                jpeg(repeatedBytes(count) { [0xFF, 0xD0 | UInt8(truncatingIfNeeded: $0 & 7)] })
            },
            InputShape("artwork", "fill-bytes") { jpeg([UInt8](repeating: 0xFF, count: 2 * $0)) },
            InputShape("artwork", "frame-headers-of-a-jpeg-image") { count in
                jpeg(repeatedBytes(count) { _ in emptyFrame })
            },
            InputShape("artwork", "chunks-of-a-png-image") { count in
                signature + header + repeatedBytes(count) { _ in pngChunk("tEXt", [0x61, 0, 0x62]) }
            },
            InputShape("artwork", "headers-of-a-png-image") { count in
                signature + repeatedBytes(count) { _ in header }
            },
            InputShape("artwork", "chunks-of-a-webp-image") { count in
                extended + repeatedBytes(count) { _ in Array("EXIF".utf8) + [0, 0, 0, 0] }
            },
            InputShape("artwork", "blocks-of-a-gif-image") { count in
                Array("GIF89a".utf8) + [1, 0, 1, 0, 0, 0, 0] + repeatedBytes(count) { _ in [0x21, 0xFE, 1, 0x61, 0] }
            },
        ]
    }

    private static func zeros(_ count: Int) -> [UInt8] { [UInt8](repeating: 0, count: count) }

    // MARK: Tokens

    private static var tokens: [InputShape] {
        [
            InputShape("tokens", "header-fields") { count in
                "{\"headers\":{" + repeated(count) { "\"X-\($0)\":\"v\"," } + "\"X\":\"v\"}}"
            },
            InputShape("tokens", "header-fields-of-one-name") { count in
                "{\"headers\":{" + repeated(count) { "\"X\":\"\($0)\"," } + "\"X\":\"v\"}}"
            },
            InputShape("tokens", "other-members") { count in
                "{\"query\":\"a=b\"" + repeated(count) { ",\"x\($0)\":[\($0)]" } + "}"
            },
            InputShape("tokens", "long-query") { "token=" + String(repeating: "a", count: 64 * $0) },
            InputShape("tokens", "parameters-of-a-query") { count in
                "{\"query\":\"" + repeated(count) { "p\($0)=v&" } + "\"}"
            },
            InputShape("tokens", "long-url") { "https://h/" + String(repeating: "a/../", count: 16 * $0) },
            InputShape("tokens", "long-prefix") { count in
                "{\"query\":\"a=b\",\"prefix\":\"/" + String(repeating: "a/../", count: 16 * count) + "\"}"
            },
            InputShape("tokens", "long-number") { count in
                "{\"expires\":1" + String(repeating: "0", count: 16 * count) + "}"
            },
            InputShape("tokens", "objects-in-objects", size: 60) { count in
                String(repeating: "{\"headers\":", count: count) + "{}" + String(repeating: "}", count: count)
            },
            InputShape("tokens", "escapes-of-a-query") { count in
                "{\"query\":\"" + String(repeating: "\\u0061", count: 8 * count) + "\"}"
            },
            InputShape("tokens", "blank-lines") { String(repeating: "\r\n", count: 32 * $0) + "a=b" },
        ]
    }

    // MARK: Steering

    private static func manifest(_ pathways: String, _ more: String = "") -> String {
        "{\"VERSION\":1,\"TTL\":300,\"PATHWAY-PRIORITY\":[\(pathways)]\(more)}"
    }

    private static func clone(_ base: String, _ id: String, _ replacement: String) -> String {
        "{\"BASE-ID\":\"\(base)\",\"ID\":\"\(id)\",\"URI-REPLACEMENT\":{\(replacement)}},"
    }

    private static func clones(_ text: String) -> String {
        manifest("\"A\"", ",\"PATHWAY-CLONES\":[" + text + "{}]")
    }

    private static var steering: [InputShape] {
        let host = "\"HOST\":\"h.example\""
        return [
            InputShape("steering", "pathways") { count in manifest(repeated(count) { "\"P\($0)\"," } + "\"A\"") },
            InputShape("steering", "pathways-of-one-name") { count in
                manifest(repeated(count) { _ in "\"P\"," } + "\"A\"")
            },
            InputShape("steering", "long-pathway") { count in
                manifest("\"" + String(repeating: "x", count: 64 * count) + "\"")
            },
            InputShape("steering", "clones") { count in clones(repeated(count) { clone("A", "C\($0)", host) }) },
            InputShape("steering", "clones-of-one-name") { count in
                clones(repeated(count) { _ in clone("A", "C", host) })
            },
            InputShape("steering", "clones-of-clones") { count in
                clones(repeated(count) { clone($0 == 0 ? "A" : "C\($0 - 1)", "C\($0)", host) })
            },
            InputShape("steering", "clones-that-are-not-valid") { count in clones(repeated(count) { "[\($0)]," }) },
            InputShape("steering", "parameters-of-one-clone") { count in
                let parameters = repeated(count) { "\"p\($0)\":\"v\"," } + "\"p\":\"v\""
                return clones(clone("A", "C", host + ",\"PARAMS\":{\(parameters)}"))
            },
            InputShape("steering", "parameters-of-many-clones", size: 10) { count in
                let parameters = repeated(16) { "\"p\($0)\":\"v\"," } + "\"p\":\"v\""
                return clones(repeated(count) { clone("A", "C\($0)", host + ",\"PARAMS\":{\(parameters)}") })
            },
            InputShape("steering", "urls-of-one-clone") { count in
                let variants = repeated(count) { "\"v\($0)\":\"https://h/v\($0)\"," } + "\"v\":\"https://h/v\""
                let renditions = repeated(count) { "\"r\($0)\":\"https://h/r\($0)\"," } + "\"r\":\"https://h/r\""
                let texts = "\"PER-VARIANT-URIS\":{\(variants)},\"PER-RENDITION-URIS\":{\(renditions)}"
                return clones(clone("A", "C", texts))
            },
            InputShape("steering", "long-reload-uri") { count in
                manifest("\"A\"", ",\"RELOAD-URI\":\"" + String(repeating: "a/../", count: 16 * count) + "\"")
            },
            InputShape("steering", "other-members") { count in
                manifest("\"A\"", repeated(count) { ",\"X-\($0)\":[\($0)]" })
            },
            InputShape("steering", "arrays-in-arrays", size: 60) { count in
                manifest(
                    "\"A\"",
                    ",\"X\":" + String(repeating: "[", count: count) + String(repeating: "]", count: count)
                )
            },
        ]
    }

    // MARK: Faults

    private static var faults: [InputShape] {
        [
            InputShape("faults", "parameters-of-one-name") { "status=503" + repeated($0) { "&corrupt=\($0)" } },
            InputShape("faults", "unknown-parameters") { repeated($0) { "p\($0)=1&" } + "status=503" },
            InputShape("faults", "separators") { "status=503" + String(repeating: "&", count: 16 * $0) },
            InputShape("faults", "path-of-wildcards", size: 100) { count in
                "path=" + String(repeating: "*a", count: count) + "&status=503"
            },
            InputShape("faults", "path-beyond-the-limit") { count in
                "path=" + String(repeating: "*", count: 16 * count) + "&status=503"
            },
            InputShape("faults", "long-range", size: 15) { count in
                let digits = String(repeating: "1", count: 16 * count)
                return "requests=\(digits)...\(digits)&sequence=\(digits)...&status=503"
            },
            InputShape("faults", "long-times", size: 15) { count in
                let digits = String(repeating: "1", count: 16 * count)
                return "time=1.\(digits)...2.\(digits)&interval=10.\(digits)&delay=1.\(digits)"
            },
            InputShape("faults", "dots-of-a-range") { count in
                "requests=" + String(repeating: ".", count: 16 * count) + "&status=503"
            },
            InputShape("faults", "percent-signs-of-a-text", size: 60) { count in
                "body=" + String(repeating: "%41%", count: 4 * count)
            },
        ]
    }
}
