import CostOperations

extension InputShape {
    /// The shapes of logs, network conditions, ladders, throughput estimates, addresses, numbers and edits.
    static var texts: [InputShape] { logs + networkFiles + smallTexts }

    private static let logHeader = "#Version: 1.0\n#Fields: date time uri cs-guid bytes c-stalls\n"

    private static func logLine(_ number: Int, _ address: String = "https://h/a.m3u8") -> String {
        "2024-01-01 00:00:\(number % 50 + 10) \(address) g \(number) 0\n"
    }

    private static var logs: [InputShape] {
        [
            InputShape("access-logs", "entries") { logHeader + repeated($0) { logLine($0) } },
            InputShape("access-logs", "fields-of-one-line") { count in
                "#Version: 1.0\n#Fields: date time" + repeated(count) { " x-f\($0)" } + "\n2024-01-01 00:00:01"
                    + repeated(count) { " \($0)" } + "\n"
            },
            InputShape("access-logs", "fields-of-one-name") { count in
                "#Version: 1.0\n#Fields: date time" + repeated(count) { _ in " bytes" } + "\n2024-01-01 00:00:01"
                    + repeated(count) { " \($0)" } + "\n"
            },
            InputShape("access-logs", "lists-of-fields") { count in
                repeated(count) { "#Fields: date time bytes x-\($0)\n2024-01-01 00:00:01 5 6\n" }
            },
            InputShape("access-logs", "long-list-of-fields-and-short-lines", size: 100) { count in
                "#Version: 1.0\n#Fields: date time" + repeated(count) { " x-f\($0)" } + "\n"
                    + repeated(count) { _ in "2024-01-01 00:00:01\n" }
            },
            InputShape("access-logs", "directives") { repeated($0) { "#Remark: \($0)\n" } + logHeader },
            InputShape("access-logs", "long-address") {
                logHeader + logLine(1, String(repeating: "x", count: 64 * $0))
            },
            InputShape("access-logs", "long-number") { count in
                logHeader + "2024-01-01 00:00:01 u g \(String(repeating: "9", count: 64 * count)) 0\n"
            },
            InputShape("access-logs", "spaces-of-one-line") {
                logHeader + String(repeating: " ", count: 64 * $0) + "\n"
            },
            InputShape("access-logs", "blank-lines") { logHeader + String(repeating: "\r\n", count: 16 * $0) },
            InputShape("error-logs", "entries") { count in
                "#Version: 1.0\n#Fields: date time uri cs-guid status domain comment\n"
                    + repeated(count) { "2024-01-01 00:00:01 u g -\($0) \"d\" \"a \"\"b\"\" \($0)\"\n" }
            },
            InputShape("error-logs", "quotation-marks") { count in
                "#Version: 1.0\n#Fields: date time status comment\n2024-01-01 00:00:01 1 "
                    + String(repeating: "\"", count: 32 * count) + "\n"
            },
            InputShape("error-logs", "text-without-end") { count in
                "#Version: 1.0\n#Fields: date time status comment\n"
                    + repeated(count) { _ in "2024-01-01 00:00:01 1 \"x\n" }
            },
        ]
    }

    private static var networkFiles: [InputShape] {
        [
            InputShape("conditions", "outages") { count in
                "{\"name\":\"n\",\"down\":{\"bandwidth\":1500000},\"outages\":["
                    + repeated(count) { "{\"start\":\(2 * $0),\"duration\":1}," } + "{\"start\":1e6,\"duration\":1}]}"
            },
            InputShape("conditions", "outages-of-one-time") { count in
                "{\"name\":\"n\",\"outages\":["
                    + repeated(count) { _ in "{\"start\":1,\"duration\":1,\"interval\":2}," }
                    + "{\"start\":1,\"duration\":1}]}"
            },
            InputShape("conditions", "steps-of-a-trace") { count in
                "[" + repeated(count) { "{\"duration_ms\":\($0 + 1),\"bandwidth_kbps\":300,\"latency_ms\":80}," }
                    + "{\"duration_ms\":1,\"bandwidth_kbps\":1}]"
            },
            InputShape("conditions", "steps-without-bandwidth") { count in
                "[" + repeated(count) { _ in "{\"duration_ms\":0.001,\"bandwidth_kbps\":0}," }
                    + "{\"duration_ms\":1,\"bandwidth_kbps\":1}]"
            },
            InputShape("ladders", "segments") { count in
                "{\"segment_duration_ms\":3000,\"bitrates_kbps\":[230,331],\"segment_sizes_bits\":["
                    + repeated(count) { _ in "[886360,1180512]," } + "[1,2]]}"
            },
            InputShape("ladders", "variants") { count in
                "{\"segment_duration_ms\":3000,\"bitrates_kbps\":[" + repeated(count) { "\($0 + 1)," } + "1e6],"
                    + "\"segment_sizes_bits\":[[" + repeated(count) { "\($0 + 1)," } + "1000000]]}"
            },
            InputShape("throughput", "networks") { count in
                repeated(count) { "n\($0)\t4000000\t\(1_700_000_000 + $0)\n" }
            },
            InputShape("throughput", "one-network") { count in
                repeated(count) { "home\t4000000\t\(1_700_000_000 + $0)\n" }
            },
            InputShape("throughput", "long-name") { count in String(repeating: "\\t", count: 32 * count) + "\t1\t1\n" },
            InputShape("throughput", "lines-that-are-no-estimates") { count in repeated(count) { "\($0)\n\t\t\t\n" } },
        ]
    }

    private static var smallTexts: [InputShape] {
        [
            InputShape("addresses", "parts-that-go-up") { count in
                "https://h/" + repeated(count) { "a\($0)/../" } + "b\n" + repeated(count) { _ in "../" }
            },
            InputShape("addresses", "parts-that-stay") { count in "https://h/a\n" + repeated(4 * count) { _ in "./" } },
            InputShape("addresses", "slashes") { count in "https://h/\n" + String(repeating: "/", count: 16 * count) },
            InputShape("addresses", "percent-signs") { count in "https://h/a\n" + repeated(4 * count) { _ in "%41%" } },
            InputShape("addresses", "long-host") { count in
                "https://" + repeated(4 * count) { _ in "a." } + "/\n//" + repeated(4 * count) { _ in "a:" }
            },
            InputShape("addresses", "long-query") { count in
                "https://h/a?" + repeated(4 * count) { _ in "a=b&" } + "\n?#?"
            },
            InputShape("numbers", "digits") { count in
                let digits = String(repeating: "1", count: 32 * count)
                return "\(digits)\n1.\(digits)\n0\(digits)e\(digits)\n1:\(digits)\n2024-01-01T00:00:00.\(digits)Z"
            },
            InputShape("numbers", "separators") { count in
                let text = String(repeating: ":", count: 32 * count)
                return
                    "\(text)\n\(String(repeating: ".", count: 32 * count))\n\(String(repeating: "-", count: 32 * count))"
            },
            InputShape("edits", "long-source") { "append=https://h/\(String(repeating: "x", count: 64 * $0))" },
            InputShape("edits", "long-time") { "start=\(String(repeating: "1", count: 64 * $0))" },
            InputShape("edits", "lines") { repeated($0) { _ in "x=1\n" } },
        ]
    }
}
