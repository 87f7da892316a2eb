import MediaDecoding
import MediaTiming
import Testing

@testable import MediaOutput

@Suite struct WaveFileOutputTests {
    private let format = AudioFormat(sampleRate: 48_000, channelCount: 2)

    private func audio(_ samples: [Float]) -> AudioSamples {
        AudioSamples(time: .zero, sampleRate: 48_000, channelCount: 2, samples: samples)
    }

    @Test func fileMatchesItsHeader() throws {
        let folder = try TemporaryFolder()
        let file = WaveFileOutput(path: folder.path + "/a.wav")
        #expect(try file.start(format) == format)
        try file.enqueue(audio([0, 0.5, -0.5, 1]))
        try file.enqueue(audio([-1, 2, -2, .nan]))
        try file.finish()
        let bytes = try folder.bytes("a.wav")
        #expect(
            bytes == Array("RIFF".utf8) + [52, 0, 0, 0] + Array("WAVEfmt ".utf8) + [16, 0, 0, 0, 1, 0, 2, 0]
                + [0x80, 0xBB, 0, 0, 0, 0xEE, 2, 0, 4, 0, 16, 0] + Array("data".utf8) + [16, 0, 0, 0]
                + [0, 0, 0, 0x40, 0, 0xC0, 0xFF, 0x7F, 0, 0x80, 0xFF, 0x7F, 0, 0x80, 0, 0]
        )
    }

    @Test func floatingPointSamplesAreUnchanged() throws {
        let folder = try TemporaryFolder()
        let file = WaveFileOutput(path: folder.path + "/a.wav", sampleFormat: .float32)
        _ = try file.start(format)
        try file.enqueue(audio([0.1, 3]))
        try file.finish()
        let bytes = try folder.bytes("a.wav")
        #expect(bytes[20] == 3 && bytes[34] == 32)
        #expect(Array(bytes[44...]) == [0xCD, 0xCC, 0xCC, 0x3D, 0, 0, 0x40, 0x40])
    }

    @Test func samplesAboveTheSizeLimitAreRejectedAndTheFileRemainsPlayable() throws {
        let folder = try TemporaryFolder()
        let file = WaveFileOutput(path: folder.path + "/a.wav", sampleFormat: .integer16, limit: 8)
        _ = try file.start(format)
        try file.enqueue(audio([0, 0, 0]))
        let error = #expect(throws: OutputError.self) { try file.enqueue(audio([0, 0])) }
        #expect(error?.code == .tooLarge)
        try file.finish()
        #expect(try folder.bytes("a.wav").count == 50)
        #expect(WaveFileOutput.maximumDataSize + 36 < Int(UInt32.max))
    }

    @Test(.enabled(if: DeviceFiles.hasFullDisk, "there is no /dev/full"))
    func fullDiskIsAnError() throws {
        let file = WaveFileOutput(path: "/dev/full")
        let error = #expect(throws: OutputError.self) {
            _ = try file.start(format)
            try file.enqueue(audio([0, 0]))
            try file.finish()
        }
        #expect(error?.code == .diskFull && error?.path == "/dev/full")
    }

    @Test func missingDirectoryIsAnError() {
        let error = #expect(throws: OutputError.self) { _ = try WaveFileOutput(path: "/nowhere/a.wav").start(format) }
        #expect(error?.code == .fileFailed)
        #expect(error?.description.contains("/nowhere/a.wav") == true)
    }

    @Test func secondStartKeepsTheFirstFormat() throws {
        let folder = try TemporaryFolder()
        let file = WaveFileOutput(path: folder.path + "/a.wav")
        _ = try file.start(format)
        #expect(try file.start(AudioFormat(sampleRate: 44_100, channelCount: 1)) == format)
        try file.finish()
        try file.finish()
        #expect(try folder.bytes("a.wav").count == 44)
    }
}
