import Foundation
import Testing

@testable import PlaylistEditing

/// Tests of the advertisements that a timeline stores.
@Suite struct StoredAdvertisementsTests {
    @Test func theFormatIsAnArrayOfTexts() throws {
        let data = Data(#"["a","b","c"]"#.utf8)
        let stored = try JSONDecoder().decode(StoredAdvertisements.self, from: data)
        #expect(Array(stored) == ["a", "b", "c"] && stored.byteCount == 3)
        #expect(try JSONEncoder().encode(stored) == data)
    }

    @Test func unusedAdvertisementsAreRemovedAndTheOthersRenumbered() throws {
        var stored = try JSONDecoder().decode(StoredAdvertisements.self, from: Data(#"["a","b","c"]"#.utf8))
        let none = stored.removeUnused(except: [0, 1, 2])
        #expect(none == nil)
        let indices = stored.removeUnused(except: [2, 0])
        #expect(indices == [0: 0, 2: 1] && Array(stored) == ["a", "c"])
    }
}
