import PresentationLoading
import ResourceAddressing
import Testing

/// Tests the addresses of playlists to which a manifest is translated.
@Suite struct DerivedAddressTests {
    @Test(arguments: ["video-v.m3u8", "\u{301}a.m3u8", "a#b", ""])
    func nameIsReadFromTheAddress(name: String) {
        let derived = DerivedAddress(manifest: ResourceAddress("https://h/a.mpd?b#c"), fileName: name)
        #expect(derived.manifest.text == "https://h/a.mpd?b")
        let read = DerivedAddress(derived.address)
        #expect(read == derived)
    }

    @Test(arguments: ["https://h/a.mpd", "https://h/a.mpd#t=5", "https://h/a.mpd#millstream-playlist"])
    func otherAddressesAreNotDerived(address: String) {
        #expect(DerivedAddress(ResourceAddress(address)) == nil)
    }
}
