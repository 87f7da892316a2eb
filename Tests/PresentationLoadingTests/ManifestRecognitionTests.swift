import PresentationLoading
import Testing

struct ManifestRecognitionTests {
    @Test(
        arguments: [
            "<MPD/>", "<MPD>", "\n\t <MPD xmlns=\"urn:mpeg:dash:schema:mpd:2011\">", "<dash:MPD >",
            "<?xml version=\"1.0\"?>\r\n<!-- <html> --><MPD>", "<!DOCTYPE MPD [<!ENTITY a \">\">]><MPD>",
            "\u{FEFF}<?xml version=\"1.0\"?><MPD type=\"dynamic\">",
        ]
    )
    func manifestsAreRecognizedByTheirRootElement(_ text: String) {
        #expect(ManifestRecognition(Array(text.utf8), isComplete: false) == .manifest)
    }

    @Test(
        arguments: [
            "#EXTM3U\n# <MPD>", "<html><MPD></html>", "<MPDX>", "<mpd>", "<?xml version=\"1.0\"?><tt><MPD/></tt>",
            "WEBVTT\n\n<MPD>", "<!doctype html><body><MPD/>", "{\"MPD\":1}", "\u{0}\u{0}\u{0}\u{18}ftyp",
        ]
    )
    func otherContentIsNot(_ text: String) {
        #expect(ManifestRecognition(Array(text.utf8), isComplete: false) == .other)
    }

    @Test(arguments: [true, false]) func textInUTF16IsRecognized(_ isBigEndian: Bool) {
        let units = Array("\u{FEFF}<?xml version=\"1.0\"?><MPD>".utf16)
        let bytes = units.flatMap { unit -> [UInt8] in
            let pair = [UInt8(unit >> 8), UInt8(unit & 0xFF)]
            return isBigEndian ? pair : pair.reversed()
        }
        #expect(ManifestRecognition(bytes, isComplete: false) == .manifest)
        #expect(ManifestRecognition(Array(bytes.dropFirst(2)), isComplete: false) == .manifest)
    }

    @Test func eachBeginningIsUndecidedUntilTheNameOfTheRootEnds() {
        let text = Array("\u{FEFF} <?xml version=\"1.0\"?><!-- > --><!DOCTYPE MPD><a:MPD x=\"\">".utf8)
        let end = text.count - "x=\"\">".utf8.count
        for count in 0..<end {
            let beginning = Array(text[..<count])
            #expect(ManifestRecognition(beginning, isComplete: false) == .undecided, "\(count)")
            #expect(ManifestRecognition(beginning, isComplete: true) == .other, "\(count)")
        }
        #expect(ManifestRecognition(Array(text[..<end]), isComplete: false) == .manifest)
    }

    @Test func searchEndsAtALimit() {
        let comment = Array("<!--".utf8) + Array(repeating: UInt8(ascii: "x"), count: 100_000)
        #expect(ManifestRecognition(comment, isComplete: false) == .other)
        let name = Array("<".utf8) + Array(repeating: UInt8(ascii: "x"), count: 300)
        #expect(ManifestRecognition(name, isComplete: false) == .other)
    }
}
