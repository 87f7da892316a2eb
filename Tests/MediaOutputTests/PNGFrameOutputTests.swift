import Foundation
import MediaDecoding
import MediaTiming
import Testing

@testable import MediaOutput

@Suite struct PNGFrameOutputTests {
    private func time(_ milliseconds: Int64) -> MediaTime { MediaTime(value: milliseconds, timescale: 1000) }

    @Test func framesAreWrittenUnderTheirNumbers() throws {
        let folder = try TemporaryFolder()
        let output = PNGFrameOutput(.all(folder: folder.path))
        for index in 0..<3 { try output.show(TestFrames.frame(at: Int64(index) * 40, (Double(index) / 2, 0, 0))) }
        try output.finish()
        let names = output.writtenPaths.map { $0.dropFirst(folder.path.count + 1) }
        #expect(names == ["frame-000001.png", "frame-000002.png", "frame-000003.png"])
        let image = try PNGReader(folder.bytes("frame-000003.png"))
        #expect(image.width == 16 && image.height == 8)
        #expect(image.pixels[0] >= 253 && image.pixels[1] <= 2)
    }

    @Test(arguments: [
        (0, 0.0), (39, 0.0), (40, 0.25), (119, 0.5), (130, 0.5), (200, 0.75),
    ])
    func frameThatIsDisplayedAtTheTimeIsWritten(milliseconds: Int64, red: Double) throws {
        let folder = try TemporaryFolder()
        let output = PNGFrameOutput(.times([(time(milliseconds), folder.path + "/a.png")]))
        try output.show(TestFrames.frame(at: 0, (0, 0, 0)))
        try output.show(TestFrames.frame(at: 40, (0.25, 0, 0)))
        // After this frame there is a gap of 80 ms, in which it remains displayed.
        try output.show(TestFrames.frame(at: 80, (0.5, 0, 0)))
        try output.show(TestFrames.frame(at: 200, lasting: 0, (0.75, 0, 0)))
        try output.finish()
        #expect(output.isComplete)
        let pixel = try PNGReader(folder.bytes("a.png")).pixels[0]
        #expect(abs(Double(pixel) / 255 - red) < 0.02)
    }

    @Test func timeWithoutAFrameIsAnError() throws {
        let output = PNGFrameOutput(.times([(time(9_000), "/nowhere/a.png")]))
        try output.show(TestFrames.frame(at: 0))
        let error = #expect(throws: OutputError.self) { try output.finish() }
        #expect(error?.code == .noFrame)
        #expect(error?.message.contains("9 s") == true)
    }

    @Test func missingDirectoryIsAnError() {
        let output = PNGFrameOutput(.all(folder: "/nowhere"))
        let error = #expect(throws: OutputError.self) { try output.show(TestFrames.frame(at: 0)) }
        #expect(error?.code == .fileFailed)
    }

    @Test func checksumsHaveOneLinePerFrame() throws {
        let folder = try TemporaryFolder()
        let output = try FrameChecksumOutput(path: folder.path + "/a.csv")
        let frame = try TestFrames.frame(at: 80)
        try output.show(frame)
        try output.show(TestFrames.frame(at: 120, lasting: 33, (1, 1, 1)))
        try output.finish()
        let lines = try folder.text("a.csv").split(separator: "\n")
        #expect(lines.count == 3)
        #expect(lines[0] == "#time,duration,width,height,format,checksum")
        #expect(lines[1] == "0.08,0.04,16,8,yuv420p,\(frame.pixelBuffer.checksum())")
        #expect(lines[2].hasPrefix("0.12,0.033,16,8,yuv420p,"))
        #expect(lines[1].split(separator: ",").last != lines[2].split(separator: ",").last)
    }

    @Test(.enabled(if: DeviceFiles.hasFullDisk, "there is no /dev/full"))
    func checksumsOnAFullDiskAreAnError() throws {
        let output = try FrameChecksumOutput(path: "/dev/full")
        try output.show(TestFrames.frame(at: 0))
        let error = #expect(throws: OutputError.self) { try output.finish() }
        #expect(error?.code == .diskFull)
    }

    @Test func rawFramesContainOnlyTheirVisibleBytes() throws {
        let folder = try TemporaryFolder()
        let output = try RawFrameOutput(path: folder.path + "/a.yuv")
        // An odd size: chroma rows are rounded up, and are padded in memory.
        try output.show(TestFrames.frame(at: 0, (1, 1, 1), width: 17, height: 5))
        try output.show(TestFrames.frame(at: 40, (0, 0, 0), width: 17, height: 5))
        try output.finish()
        func frame(_ luma: UInt8) -> [UInt8] {
            [UInt8](repeating: luma, count: 85) + [UInt8](repeating: 128, count: 54)
        }
        #expect(try folder.bytes("a.yuv") == frame(235) + frame(16))
    }
}
