import Adaptation
import Foundation
import MediaTiming
import Testing

@Suite struct SizedLadderTests {
    private func read(_ text: String) throws -> SizedLadder {
        try JSONDecoder().decode(SizedLadder.self, from: Data(text.utf8))
    }

    @Test func sizedLadderIsParsedInItsUnits() throws {
        let ladder = try read(
            #"{"segment_duration_ms":2000.5,"bitrates_kbps":[230,331.5],"segment_sizes_bits":[[9,16],[1,2e9]]}"#
        )
        #expect(ladder.bitRates == [BitRate(bitsPerSecond: 230_000), BitRate(bitsPerSecond: 331_500)])
        #expect(ladder.segmentDuration == .microseconds(2_000_500))
        #expect(ladder.sizes == [[ByteCount(2), ByteCount(2)], [ByteCount(1), ByteCount(250_000_000)]])
    }

    @Test(arguments: [
        (#"{"segment_duration_ms":0.5,"bitrates_kbps":[1],"segment_sizes_bits":[[1]]}"#, "duration"),
        (#"{"segment_duration_ms":1e308,"bitrates_kbps":[1],"segment_sizes_bits":[[1]]}"#, "duration"),
        (#"{"segment_duration_ms":1000,"bitrates_kbps":[2,1],"segment_sizes_bits":[[1,1]]}"#, "ascending"),
        (#"{"segment_duration_ms":1000,"bitrates_kbps":[1e9],"segment_sizes_bits":[[1]]}"#, "ascending"),
        (#"{"segment_duration_ms":1000,"bitrates_kbps":[0],"segment_sizes_bits":[[1]]}"#, "ascending"),
        (#"{"segment_duration_ms":1000,"bitrates_kbps":[],"segment_sizes_bits":[[]]}"#, "variants"),
        (#"{"segment_duration_ms":1000,"bitrates_kbps":[1],"segment_sizes_bits":[]}"#, "segments"),
        (#"{"segment_duration_ms":1000,"bitrates_kbps":[1,2],"segment_sizes_bits":[[1]]}"#, "size"),
        (#"{"segment_duration_ms":1000,"bitrates_kbps":[1],"segment_sizes_bits":[[0.5]]}"#, "size"),
        (#"{"segment_duration_ms":1000,"bitrates_kbps":[1],"segment_sizes_bits":[[2.1e9]]}"#, "size"),
    ])
    func valuesOutOfRangeAreRejected(_ text: String, _ reason: String) throws {
        let error = try #require(throws: SizedLadderError.self) { try read(text) }
        #expect(error.description.contains(reason))
    }
}
