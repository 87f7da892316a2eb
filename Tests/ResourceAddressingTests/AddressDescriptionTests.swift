import ResourceAddressing
import Testing

@Suite struct AddressDescriptionTests {
    @Test(arguments: [
        // User information.
        ("https://user:secret@a.example:8443/x.m3u8", "https://a.example:8443/x.m3u8"),
        ("https://a@b@c.example/x", "https://c.example/x"),
        // Long values of parameters with any name.
        ("https://a.example/x?v=abcdefghijklmnop", "https://a.example/x?v=abcd…"),
        ("https://a.example/x?abcdefghijklmnopqrstuvwxyz", "https://a.example/x?abcd…"),
        ("https://a.example/x?a=1;b=abcdefghijklmnop", "https://a.example/x?a=1;b=abcd…"),
        ("https://a.example/x#abcdefghijklmnop", "https://a.example/x#abcd…"),
        ("/play.m3u8?url=https%3A%2F%2Fa.example%2Fx%3Ftoken%3Dabc", "/play.m3u8?url=http…"),
        // Parameter names that denote secrets.
        ("https://a.example/x?token=abc&sig=abcd", "https://a.example/x?token=…&sig=a…"),
        (
            "https://a.example/x?X-Amz-Signature=abcdef&Key-Pair-Id=K1",
            "https://a.example/x?X-Amz-Signature=a…&Key-Pair-Id=…"
        ),
        ("https://a.example/x?Policy=e&Signature=f&se=2026", "https://a.example/x?Policy=…&Signature=…&se=2…"),
        ("https://a.example/x?hdnea=st=1~exp=2", "https://a.example/x?hdnea=st…"),
        ("https://a.example/x?my_access%5Ftoken=abc", "https://a.example/x?my_access%5Ftoken=…"),
        // Components of the path.
        (
            "https://a.example/eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0NTY3ODkwIn0.SflKxwRJSMeKKF2QT4fwpM/x.ts",
            "https://a.example/eyJh….eyJz….SflK…/x.ts"
        ),
        ("https://a.example/hdntl=exp=1~hmac=0a1b2c3d4e5f/x.ts", "https://a.example/hdntl=e…~hmac=0a1…/x.ts"),
        ("https://a.example/v/d131dd02c5e6eec4d131dd02c5e6eec4/x.ts", "https://a.example/v/d131…/x.ts"),
        ("https://a.example/x.ts;jsessionid=0a1b", "https://a.example/x.ts;jsessionid=0…"),
        ("media/;token=abc/x.ts", "media/;token=…/x.ts"),
        ("skd://0a1b2c3d4e5f60718293a4b5c6d7e8f9", "skd://0a1b…"),
        // Data URLs are reduced to their media type and length.
        ("data:text/plain;base64,AAECAwQFBgcICQoLDA0ODw==", "data:text/plain,… (47 bytes)"),
        ("DATA:,key", "data:,… (9 bytes)"),
    ])
    func secretsAreRedactedInDescription(text: String, description: String) {
        let address = ResourceAddress(text)
        #expect(address.description == description)
        #expect("\(address)" == description && String(reflecting: address) == description)
        #expect(address.text == text)
    }

    @Test(arguments: [
        "https://a.example:8443/live/multivariant.m3u8?bandwidth=900k...4M&duration=30",
        "https://a.example/BigBuckBunny_320x180_segment_000123.m4s",
        "http://[::1]:8080/a/b/c.ts?_HLS_msn=12&_HLS_part=3",
        "https://a.example/video_1080p_h264_main_profile/segment-00001.m4s", "relative/path/playlist.m3u8",
        "https://a.example/multivariant_playlist_english_audio_stereo_128000.m3u8", "",
        "https://a.example/2026-01-01T00-00-00Z_00012345_segment.ts",
        "file:///home/user/Films/0a1b2c3d4e5f60718293a4b5c6d7e8f9/x.m3u8",
    ])
    func addressesWithoutSecretsAreUnchanged(text: String) {
        #expect(ResourceAddress(text).description == text)
    }

    @Test func redactionAppliesInsideContainers() {
        struct Holder { let address: ResourceAddress }
        let holder = Holder(address: ResourceAddress("https://me:pw@a.example/x?token=topsecretvalue"))
        var dumped = ""
        dump(holder, to: &dumped)
        for text in ["\(holder)", String(reflecting: holder), dumped, "\([holder.address])"] {
            #expect(!text.contains("topsecret") && !text.contains("pw@") && text.contains("a.example"))
        }
    }

    @Test func descriptionLengthIsBounded() {
        let long = String(repeating: "a", count: 1_000_000)
        // A single character with its combining marks.
        let marks = "e" + String(repeating: "\u{301}", count: 100_000)
        for text in [
            "https://\(marks)/", "https://h/\(marks)", "https://h/?\(marks)=1", "https://h/?a=\(marks)",
            "data:\(marks),x",
            "https://\(long)/", "https://h/\(long)", "https://h/?\(long)=1", "https://h/?a=\(long)", "data:\(long),x",
            "https://h/" + String(repeating: "ab/", count: 300_000),
            "https://h/?" + String(repeating: "a=1&", count: 300_000),
            "https://h/" + String(repeating: ";a=1", count: 300_000),
        ] as [String] {
            #expect(ResourceAddress(text).description.utf8.count < 3000)
        }
    }

    /// Segments with similar names can be told apart in a log.
    @Test(arguments: [
        (
            "https://u:p@a.example/x/0123456789abcdef0123456789abcdef.ts?token=abcdefgh",
            "https://a.example/x/0123456789abcdef0123456789abcdef.ts?token=ab…"
        ),
        (
            "https://a.example/0123456789abcdef0123456789abcdef/x.ts;token=abcdefgh",
            "https://a.example/0123…/x.ts;token=ab…"
        ),
    ])
    func logsHaveWholeNamesOfFiles(address: String, expected: String) {
        #expect(ResourceAddress(address).logDescription == expected)
    }
}
