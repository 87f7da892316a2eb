import HLSPlaylist
import Testing

@testable import Millstream

@Suite struct ProgramDateDisplayTests {
    @Test(arguments: [
        ("2026-11-26T10:13:19.516157961Z", "2026-11-26T10:13:19.516Z"),
        ("2026-11-26T10:13:19+01:00", "2026-11-26T10:13:19.000+01:00"),
        ("2026-11-26T10:13:19.5-05:30", "2026-11-26T10:13:19.500-05:30"),
    ])
    func dateIsShownWithMilliseconds(_ text: String, _ shown: String) throws {
        #expect(try #require(ProgramDateTime(text)).displayText == shown)
    }
}
