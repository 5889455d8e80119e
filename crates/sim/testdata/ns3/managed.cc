// One bulk TCP flow over a point-to-point link whose queue manages itself, measured in ns-3.
//
// Prints one line of comma-separated values (names with --header).

#include "ns3/applications-module.h"
#include "ns3/core-module.h"
#include "ns3/internet-module.h"
#include "ns3/network-module.h"
#include "ns3/point-to-point-module.h"
#include "ns3/traffic-control-module.h"

#include <cstdio>
#include <deque>

using namespace ns3;

namespace
{

constexpr uint32_t kSegment = 1448; // payload of an IP packet of 1,500 bytes: 20 IPv4, 20 TCP, 12 timestamps

// What the receiver got and how long packets waited: in the queue discipline, and then in the device.
class Meter
{
  public:
    explicit Meter(Time warmUp)
        : m_warmUp(warmUp)
    {
    }

    void Left(Time waited)
    {
        if (Counts())
        {
            ++m_left;
            m_waited += waited.GetSeconds();
        }
    }

    void EnteredDevice(Ptr<const Packet>)
    {
        m_device.push_back(Simulator::Now());
    }

    void LeftDevice(Ptr<const Packet>)
    {
        if (Counts())
        {
            ++m_sent;
            m_waitedInDevice += (Simulator::Now() - m_device.front()).GetSeconds();
        }
        m_device.pop_front();
    }

    void Dropped(Ptr<const QueueDiscItem>)
    {
        m_dropped += Counts();
    }

    void Received(Ptr<const Packet> packet, const Address&)
    {
        m_received += Counts() ? packet->GetSize() : 0;
    }

    double MeanWait() const
    {
        return m_waited / m_left + m_waitedInDevice / m_sent;
    }

    uint64_t m_received = 0;
    uint64_t m_dropped = 0;

  private:
    bool Counts() const
    {
        return Simulator::Now() >= m_warmUp;
    }

    Time m_warmUp;
    std::deque<Time> m_device;
    uint64_t m_left = 0;
    uint64_t m_sent = 0;
    double m_waited = 0;
    double m_waitedInDevice = 0;
};

// The parameters of leobench, where ns-3 has other defaults.
void
SetParameters(DataRate rate, Time delay)
{
    const QueueSizeValue thousand(QueueSize("1000p"));
    Config::SetDefault("ns3::CoDelQueueDisc::MaxSize", thousand);
    Config::SetDefault("ns3::PieQueueDisc::MaxSize", thousand);
    Config::SetDefault("ns3::PieQueueDisc::MeanPktSize", UintegerValue(1500));
    Config::SetDefault("ns3::PieQueueDisc::MaxBurstAllowance", TimeValue(MilliSeconds(150)));
    Config::SetDefault("ns3::PieQueueDisc::UseDerandomization", BooleanValue(true));
    Config::SetDefault("ns3::RedQueueDisc::MaxSize", thousand);
    Config::SetDefault("ns3::RedQueueDisc::MinTh", DoubleValue(5));
    Config::SetDefault("ns3::RedQueueDisc::MaxTh", DoubleValue(15));
    Config::SetDefault("ns3::RedQueueDisc::LInterm", DoubleValue(50));
    Config::SetDefault("ns3::RedQueueDisc::QW", DoubleValue(0.002));
    Config::SetDefault("ns3::RedQueueDisc::Gentle", BooleanValue(true));
    // Drops as far apart as in the paper, from 1 to 1/p packets; by default ns-3 has from 1/p to 2/p.
    Config::SetDefault("ns3::RedQueueDisc::Wait", BooleanValue(false));
    Config::SetDefault("ns3::RedQueueDisc::MeanPktSize", UintegerValue(1500));
    Config::SetDefault("ns3::RedQueueDisc::LinkBandwidth", DataRateValue(rate));
    Config::SetDefault("ns3::RedQueueDisc::LinkDelay", TimeValue(delay));

    const uint32_t buffer = 64 << 20;
    Config::SetDefault("ns3::TcpL4Protocol::RecoveryType", TypeIdValue(TypeId::LookupByName("ns3::TcpPrrRecovery")));
    Config::SetDefault("ns3::TcpSocket::SegmentSize", UintegerValue(kSegment));
    Config::SetDefault("ns3::TcpSocket::InitialCwnd", UintegerValue(10));
    Config::SetDefault("ns3::TcpSocket::SndBufSize", UintegerValue(buffer));
    Config::SetDefault("ns3::TcpSocket::RcvBufSize", UintegerValue(buffer));
    Config::SetDefault("ns3::TcpSocket::DelAckTimeout", TimeValue(MilliSeconds(40)));
    Config::SetDefault("ns3::TcpSocketBase::MinRto", TimeValue(MilliSeconds(200)));
    Config::SetDefault("ns3::TcpCubic::HyStart", BooleanValue(false));
}

} // namespace

int
main(int argc, char* argv[])
{
    std::string algorithm = "TcpLinuxReno";
    std::string queue = "CoDelQueueDisc";
    bool header = false;
    uint32_t run = 1;
    double seconds = 220;
    double warmUp = 20;
    CommandLine cmd;
    cmd.AddValue("algorithm", "TypeId of the congestion control, without ns3::", algorithm);
    cmd.AddValue("queue", "TypeId of the queue discipline, without ns3::", queue);
    cmd.AddValue("run", "number of the run, which seeds the queue", run);
    cmd.AddValue("seconds", "when the run ends", seconds);
    cmd.AddValue("warmUp", "when measuring begins", warmUp);
    cmd.AddValue("header", "print the names of the columns and end", header);
    cmd.Parse(argc, argv);
    if (header)
    {
        std::puts("algorithm,queue,run,warm_up_s,end_s,goodput_bps,dropped_packets,mean_queueing_delay_ms");
        return 0;
    }

    const DataRate rate(20'000'000);
    const Time delay = MilliSeconds(20);
    RngSeedManager::SetRun(run);
    SetParameters(rate, delay);
    Config::SetDefault("ns3::TcpL4Protocol::SocketType", TypeIdValue(TypeId::LookupByName("ns3::" + algorithm)));

    NodeContainer nodes;
    nodes.Create(2);
    PointToPointHelper link;
    link.SetDeviceAttribute("DataRate", DataRateValue(rate));
    link.SetChannelAttribute("Delay", TimeValue(delay));
    // Flow control stops the discipline while the device holds a packet beside the one on the wire.
    link.SetQueue("ns3::DropTailQueue<Packet>", "MaxSize", QueueSizeValue(QueueSize("1p")));
    const NetDeviceContainer devices = link.Install(nodes);
    InternetStackHelper().Install(nodes);
    TrafficControlHelper control;
    control.SetRootQueueDisc("ns3::" + queue);
    const Ptr<QueueDisc> discipline = control.Install(devices.Get(0)).Get(0);
    Ipv4AddressHelper addresses("10.0.0.0", "255.255.255.0");
    const Ipv4InterfaceContainer interfaces = addresses.Assign(devices);

    const uint16_t port = 9;
    BulkSendHelper bulk("ns3::TcpSocketFactory", InetSocketAddress(interfaces.GetAddress(1), port));
    bulk.SetAttribute("SendSize", UintegerValue(64 * 1024));
    bulk.Install(nodes.Get(0)).Start(Seconds(0));
    PacketSinkHelper sinkHelper("ns3::TcpSocketFactory", InetSocketAddress(Ipv4Address::GetAny(), port));
    ApplicationContainer sinks = sinkHelper.Install(nodes.Get(1));
    sinks.Start(Seconds(0));

    Meter meter{Seconds(warmUp)};
    const Ptr<Queue<Packet>> ring = DynamicCast<PointToPointNetDevice>(devices.Get(0))->GetQueue();
    discipline->TraceConnectWithoutContext("SojournTime", MakeCallback(&Meter::Left, &meter));
    discipline->TraceConnectWithoutContext("Drop", MakeCallback(&Meter::Dropped, &meter));
    ring->TraceConnectWithoutContext("Enqueue", MakeCallback(&Meter::EnteredDevice, &meter));
    ring->TraceConnectWithoutContext("Dequeue", MakeCallback(&Meter::LeftDevice, &meter));
    sinks.Get(0)->TraceConnectWithoutContext("Rx", MakeCallback(&Meter::Received, &meter));

    Simulator::Stop(Seconds(seconds));
    Simulator::Run();
    std::printf("%s,%s,%u,%g,%g,%.0f,%lu,%.4f\n",
                algorithm.c_str(),
                queue.c_str(),
                run,
                warmUp,
                seconds,
                meter.m_received * 8 / (seconds - warmUp),
                meter.m_dropped,
                1e3 * meter.MeanWait());
    Simulator::Destroy();
    return 0;
}
