import Testing

@testable import MediaTransport

@Suite struct CookieDateTests {
    @Test(arguments: [
        ("Wed, 09 Jun 2021 10:18:14 GMT", 1_623_233_894), ("Wednesday, 09-Jun-21 10:18:14 GMT", 1_623_233_894),
        ("Wed Jun  9 10:18:14 2021", 1_623_233_894), ("9 june 2021 10:18:14", 1_623_233_894),
        ("10:18:14 9 JUNI 2021", 1_623_233_894), ("2021 9 Jun 10:18:14", 1_623_233_894),
        ("Jun/9/2021/10:18:14+0200", 1_623_233_894), ("09th Jun 2021ad 10:18:14.999", 1_623_233_894),
        ("Wed, 09 Jun 2021 10:18:14 -0800 (PST) 8 Jul 1999", 1_623_233_894), ("9-jun-2021 10:18:14", 1_623_233_894),
        ("Thu, 01 Jan 1970 00:00:00 GMT", 0), ("Wed, 31 Dec 1969 23:59:59 GMT", -1), ("1 Jan 70 0:0:0", 0),
        ("1 Jan 69 0:0:0", 3_124_224_000), ("1 Jan 00 00:00:00", 946_684_800), ("29 Feb 2000 0:0:0", 951_782_400),
        ("1 Mar 2000 0:0:0", 951_868_800), ("29 Feb 2024 12:34:56", 1_709_210_096),
        ("Tue, 19 Jan 2038 03:14:08", 2_147_483_648), ("1 Jan 1601 0:0:0", -11_644_473_600),
        ("31 Dec 9999 23:59:59", 253_402_300_799),
    ])
    func datesAreParsedInManyFormats(text: String, seconds: Int64) {
        #expect(CookieDate.parse(text.utf8) == UnixSeconds(seconds))
    }

    @Test(arguments: [
        "", "0", "tomorrow", "Wed, 09 Jun 2021", "10:18:14", "Jun 2021 10:18:14", "9 2021 10:18:14", "9 Jun 10:18:14",
        "30 Feb 2024 0:0:0", "29 Feb 2023 0:0:0", "29 Feb 1900 0:0:0", "31 Apr 2024 0:0:0", "0 Jan 2024 0:0:0",
        "32 Jan 2024 0:0:0", "1 Jan 2024 24:00:00", "1 Jan 2024 00:60:00", "1 Jan 2024 00:00:60", "1 Jan 1600 0:0:0",
        "1 Jan 123 0:0:0", "1 Jan 20240 0:0:0", "1 Jan 2024 000:00:00", "1 Jan 2024 0:0", "1 Jan 2024 0:0:x",
        "2024-01-01T00:00:00Z", "1 Jan 2024 a0:0:0", "1 J\u{E4}n 2024 0:0:0",
        "99999999999999999999 Jan 2024 0:0:0",
    ])
    func invalidDatesAreRejected(text: String) {
        #expect(CookieDate.parse(text.utf8) == nil)
    }

    /// RFC 6265 §5.1.1 lists the delimiters; the control character 0x7F is none of them.
    @Test func onlyTheDelimitersOfTheStandardSeparateTokens() {
        let ranges: [ClosedRange<UInt8>] = [0x09...0x09, 0x20...0x2F, 0x3B...0x40, 0x5B...0x60, 0x7B...0x7E]
        for byte in UInt8.min...UInt8.max {
            let text = Array("Jun".utf8) + [byte] + Array("2021 9 10:18:14".utf8)
            let isDelimiter = ranges.contains { $0.contains(byte) }
            #expect((CookieDate.parse(text) != nil) == isDelimiter, "\(byte)")
        }
    }

    @Test func monthsOf400YearsAreConsecutive() {
        let names = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"]
        var days: [Int64] = []
        for year in 1900..<2300 {
            for name in names {
                let dates = (28...31).compactMap { CookieDate.parse("\($0) \(name) \(year) 0:0:0".utf8) }
                days += dates.map { $0.rawValue / 86_400 }
                if let first = CookieDate.parse("1 \(name) \(year) 0:0:0".utf8) { days.append(first.rawValue / 86_400) }
            }
        }
        days.sort()
        // One day after the previous date, or 27 days from the 1st to the 28th of a month.
        #expect(zip(days, days.dropFirst()).allSatisfy { [1, 27].contains($1 - $0) })
        // The calendar repeats after 146,097 days; the last day is not counted.
        #expect(days.last.map { $0 - days[0] } == 146_096)
        #expect(days.count == 146_097 - 400 * 12 * 26)
    }
}
